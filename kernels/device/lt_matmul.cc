#include "kernels/device/lt_matmul.h"

#include "core/cuda_libraries.h"
#include "core/dynamic_library.h"

namespace headsplit::kernels {
namespace {

struct LtApi {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtGetStatusName) status_name = nullptr;
  decltype(&cublasLtMatmulDescCreate) matmul_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) matmul_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) matmul_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;

  Result<void> check(const char* call, cublasStatus_t status) const {
    if (status == CUBLAS_STATUS_SUCCESS) return {};
    return fail(ErrorKind::cuda, call, ": ", status_name(status));
  }
};

Result<LtApi> load_lt() {
  const DynamicLibrary library =
      TRY(DynamicLibrary::open(cuda_library_names("cublasLt", CUBLAS_VER_MAJOR)));
  LtApi api;
  TRY(library.bind("cublasLtCreate", api.create));
  TRY(library.bind("cublasLtDestroy", api.destroy));
  TRY(library.bind("cublasLtGetStatusName", api.status_name));
  TRY(library.bind("cublasLtMatmulDescCreate", api.matmul_create));
  TRY(library.bind("cublasLtMatmulDescDestroy", api.matmul_destroy));
  TRY(library.bind("cublasLtMatmulDescSetAttribute", api.matmul_set));
  TRY(library.bind("cublasLtMatrixLayoutCreate", api.layout_create));
  TRY(library.bind("cublasLtMatrixLayoutDestroy", api.layout_destroy));
  TRY(library.bind("cublasLtMatmulPreferenceCreate", api.preference_create));
  TRY(library.bind("cublasLtMatmulPreferenceDestroy", api.preference_destroy));
  TRY(library.bind("cublasLtMatmulPreferenceSetAttribute", api.preference_set));
  TRY(library.bind("cublasLtMatmulAlgoGetHeuristic", api.heuristic));
  TRY(library.bind("cublasLtMatmul", api.matmul));
  return api;
}

}  // namespace

class LtLibrary {
 public:
  LtLibrary(const LtApi& loaded, cublasLtHandle_t created) : api(loaded), handle(created) {}
  ~LtLibrary() { api.destroy(handle); }
  LtLibrary(const LtLibrary&) = delete;
  LtLibrary& operator=(const LtLibrary&) = delete;

  const LtApi api;
  const cublasLtHandle_t handle;
};

Result<std::shared_ptr<const LtLibrary>> open_cublaslt() {
  const LtApi api = TRY(load_lt());
  cublasLtHandle_t handle = nullptr;
  TRY(api.check("cublasLtCreate", api.create(&handle)));
  return std::shared_ptr<const LtLibrary>(std::make_shared<LtLibrary>(api, handle));
}

struct LtMatmul::State {
  std::shared_ptr<const LtLibrary> library;
  cublasLtMatmulDesc_t matmul = nullptr;
  cublasLtMatrixLayout_t a = nullptr;  // depth x rows in the library's column-major terms
  cublasLtMatrixLayout_t b = nullptr;  // depth x columns
  cublasLtMatrixLayout_t d = nullptr;  // rows x columns
  cublasLtMatmulAlgo_t algorithm{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (const auto layout : {a, b, d}) {
      if (layout != nullptr) library->api.layout_destroy(layout);
    }
    if (matmul != nullptr) library->api.matmul_destroy(matmul);
  }

  Result<void> describe(const LtShape& shape);
  Result<void> choose_algorithm();
};

Result<void> LtMatmul::State::describe(const LtShape& shape) {
  const LtApi& api = library->api;
  // Before CUDA 12.3 and on devices of compute capability 9.0 FP8 wants the A^T B form.
  constexpr cublasOperation_t kTransposeA = CUBLAS_OP_T;
  const auto rows = static_cast<std::uint64_t>(shape.rows);
  const auto columns = static_cast<std::uint64_t>(shape.columns);
  const auto depth = static_cast<std::uint64_t>(shape.depth);
  TRY(api.check("cublasLtMatmulDescCreate",
                api.matmul_create(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F)));
  TRY(api.check(
      "cublasLtMatmulDescSetAttribute",
      api.matmul_set(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &kTransposeA, sizeof kTransposeA)));
  if (shape.fast_sums) {
    const std::int8_t fast_sums = 1;
    TRY(api.check(
        "cublasLtMatmulDescSetAttribute",
        api.matmul_set(matmul, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast_sums, sizeof fast_sums)));
  }
  TRY(api.check("cublasLtMatrixLayoutCreate",
                api.layout_create(&a, shape.factors, depth, rows, shape.a_stride)));
  TRY(api.check("cublasLtMatrixLayoutCreate",
                api.layout_create(&b, shape.factors, depth, columns, shape.b_stride)));
  return api.check("cublasLtMatrixLayoutCreate",
                   api.layout_create(&d, CUDA_R_16BF, rows, columns, shape.d_stride));
}

Result<void> LtMatmul::State::choose_algorithm() {
  const LtApi& api = library->api;
  cublasLtMatmulPreference_t preference = nullptr;
  TRY(api.check("cublasLtMatmulPreferenceCreate", api.preference_create(&preference)));
  Result<void> chosen =
      api.check("cublasLtMatmulPreferenceSetAttribute",
                api.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                   &kWorkspaceBytes, sizeof kWorkspaceBytes));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  if (chosen) {
    chosen = api.check(
        "cublasLtMatmulAlgoGetHeuristic",
        api.heuristic(library->handle, matmul, a, b, d, d, preference, 1, &found, &count));
  }
  api.preference_destroy(preference);
  if (!chosen) return chosen;
  if (count == 0) return fail(ErrorKind::cuda, "cuBLASLt has no algorithm for this matmul");
  algorithm = found.algo;
  return {};
}

Result<LtMatmul> LtMatmul::make(std::shared_ptr<const LtLibrary> library, const LtShape& shape) {
  auto state = std::make_shared<State>();
  state->library = std::move(library);
  TRY(state->describe(shape));
  TRY(state->choose_algorithm());
  return LtMatmul(std::move(state));
}

Result<void> LtMatmul::launch(const LtOperands& operands, cudaStream_t stream) const {
  const float one = 1, zero = 0;
  const State& s = *state_;
  const LtApi& api = s.library->api;
  return api.check("cublasLtMatmul",
                   api.matmul(s.library->handle, s.matmul, &one, operands.a, s.a, operands.b, s.b,
                              &zero, operands.d, s.d, operands.d, s.d, &s.algorithm,
                              operands.workspace, kWorkspaceBytes, stream));
}

}  // namespace headsplit::kernels
