#include "agent/cublaslt.h"

#include "agent/ceiling_kernels.h"
#include "agent/cuda_libraries.h"
#include "agent/device_memory.h"
#include "core/dynamic_library.h"

namespace headsplit::agent {

namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
/// Before CUDA 12.3 and on devices of compute capability 9.0 FP8 wants the A^T B form.
constexpr cublasOperation_t kTransposeA = CUBLAS_OP_T;

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

struct LtMatmul::State {
  LtApi api;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t matmul = nullptr;
  cublasLtMatrixLayout_t factor = nullptr;   // A and B: K x size, K rows
  cublasLtMatrixLayout_t product = nullptr;  // D
  cublasLtMatmulAlgo_t algorithm{};
  DeviceMemory a, b, d, workspace;

  State() = default;
  State(const State&) = delete;
  ~State() {
    if (product != nullptr) api.layout_destroy(product);
    if (factor != nullptr) api.layout_destroy(factor);
    if (matmul != nullptr) api.matmul_destroy(matmul);
    if (handle != nullptr) api.destroy(handle);
  }

  Result<void> check(const char* call, cublasStatus_t status) const {
    if (status == CUBLAS_STATUS_SUCCESS) return {};
    return fail(ErrorKind::cuda, call, ": ", api.status_name(status));
  }
  Result<void> describe(MatmulType type, int size);
  Result<void> choose_algorithm();
  Result<void> allocate(MatmulType type, int size);
};

Result<void> LtMatmul::State::describe(MatmulType type, int size) {
  const cudaDataType_t factors = type == MatmulType::fp8 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
  const auto n = static_cast<std::uint64_t>(size);
  TRY(check("cublasLtCreate", api.create(&handle)));
  TRY(check("cublasLtMatmulDescCreate",
            api.matmul_create(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F)));
  TRY(check("cublasLtMatmulDescSetAttribute",
            api.matmul_set(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &kTransposeA, sizeof kTransposeA)));
  if (type == MatmulType::fp8) {
    const std::int8_t fast_sums = 1;
    TRY(check(
        "cublasLtMatmulDescSetAttribute",
        api.matmul_set(matmul, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast_sums, sizeof fast_sums)));
  }
  TRY(check("cublasLtMatrixLayoutCreate", api.layout_create(&factor, factors, n, n, size)));
  TRY(check("cublasLtMatrixLayoutCreate", api.layout_create(&product, CUDA_R_16BF, n, n, size)));
  return {};
}

Result<void> LtMatmul::State::choose_algorithm() {
  cublasLtMatmulPreference_t preference = nullptr;
  TRY(check("cublasLtMatmulPreferenceCreate", api.preference_create(&preference)));
  Result<void> chosen =
      check("cublasLtMatmulPreferenceSetAttribute",
            api.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                               &kWorkspaceBytes, sizeof kWorkspaceBytes));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  if (chosen) {
    chosen = check("cublasLtMatmulAlgoGetHeuristic",
                   api.heuristic(handle, matmul, factor, factor, product, product, preference, 1,
                                 &found, &count));
  }
  api.preference_destroy(preference);
  if (!chosen) return chosen;
  if (count == 0) return fail(ErrorKind::cuda, "cuBLASLt has no algorithm for this matmul");
  algorithm = found.algo;
  return {};
}

Result<void> LtMatmul::State::allocate(MatmulType type, int size) {
  const std::size_t count = static_cast<std::size_t>(size) * size;
  const std::size_t value_bytes = type == MatmulType::fp8 ? 1 : 2;
  a = TRY(device_memory(count * value_bytes));
  b = TRY(device_memory(count * value_bytes));
  d = TRY(device_memory(count * 2));
  workspace = TRY(device_memory(kWorkspaceBytes));
  const auto fill = type == MatmulType::fp8 ? launch_fill_e4m3 : launch_fill_bf16;
  fill(a.get(), count, 1, nullptr);
  fill(b.get(), count, 2, nullptr);
  CUDA_TRY(cudaGetLastError());
  CUDA_TRY(cudaDeviceSynchronize());
  return {};
}

Result<LtMatmul> LtMatmul::open(MatmulType type, int size) {
  auto state = std::make_shared<State>();
  state->api = TRY(load_lt());
  TRY(state->describe(type, size));
  TRY(state->choose_algorithm());
  TRY(state->allocate(type, size));
  return LtMatmul(size, std::move(state));
}

Result<void> LtMatmul::launch(cudaStream_t stream) {
  const float one = 1, zero = 0;
  const State& s = *state_;
  return s.check("cublasLtMatmul",
                 s.api.matmul(s.handle, s.matmul, &one, s.a.get(), s.factor, s.b.get(), s.factor,
                              &zero, s.d.get(), s.product, s.d.get(), s.product, &s.algorithm,
                              s.workspace.get(), kWorkspaceBytes, stream));
}

}  // namespace headsplit::agent
