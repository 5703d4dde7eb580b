// The CUDA plug-in of the examples with one fault, which is the name of the file it is loaded from:
// compiled once, and copied for each.
#include <dlfcn.h>

#include <string>

#define headsplit_kernel_describe honest_kernel
#include "examples/plugin/naive_mla.cu"
#undef headsplit_kernel_describe

namespace {

struct FaultyState {
  headsplit_problem problem;
  void* honest = nullptr;
  int launches = 0;
};

__global__ void write_value(__nv_bfloat16* output, float value) {
  *output = __float2bfloat16(value);
}

/// Whether the file that this code was loaded from has the fault's name.
bool has_fault(const char* fault) {
  Dl_info info{};
  return dladdr(reinterpret_cast<void*>(&has_fault), &info) != 0 &&
         std::string(info.dli_fname).find(fault) != std::string::npos;
}

int prepare_faulty(const headsplit_problem* problem, void** state, char* why, size_t why_bytes) {
  auto* faulty = new FaultyState{*problem};
  *state = faulty;
  return honest_kernel()->prepare(problem, &faulty->honest, why, why_bytes);
}

int launch_faulty(void* state, void* stream_pointer, char* why, size_t why_bytes) {
  auto& faulty = *static_cast<FaultyState*>(state);
  const auto stream = static_cast<cudaStream_t>(stream_pointer);
  if (has_fault("cheats") && ++faulty.launches > 1) return 0;
  const int status = honest_kernel()->launch(faulty.honest, stream, why, why_bytes);
  auto* output = static_cast<__nv_bfloat16*>(faulty.problem.output);
  if (has_fault("writes_nan")) write_value<<<1, 1, 0, stream>>>(output, NAN);
  if (has_fault("writes_wrong")) write_value<<<1, 1, 0, stream>>>(output, 7);
  if (has_fault("strays")) write_value<<<1, 1, 0, stream>>>(nullptr, 0);
  return status;
}

void destroy_faulty(void* state) {
  auto* faulty = static_cast<FaultyState*>(state);
  honest_kernel()->destroy(faulty->honest);
  delete faulty;
}

}  // namespace

extern "C" const headsplit_kernel* headsplit_kernel_describe() {
  static const headsplit_kernel kernel = [] {
    headsplit_kernel faulty = *honest_kernel();
    faulty.name = "faulty_cuda";
    faulty.prepare = prepare_faulty;
    faulty.launch = launch_faulty;
    faulty.destroy = destroy_faulty;
    return faulty;
  }();
  return &kernel;
}
