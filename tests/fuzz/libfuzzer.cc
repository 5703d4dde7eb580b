// One target under libFuzzer: HEADSPLIT_FUZZ_TARGET names it.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const headsplit::fuzz::Target* const target = [] {
    const char* name = std::getenv("HEADSPLIT_FUZZ_TARGET");
    const auto* found = headsplit::fuzz::find_target(name == nullptr ? "" : name);
    if (found == nullptr) {
      std::fprintf(stderr, "HEADSPLIT_FUZZ_TARGET is one of:");
      for (const auto& one : headsplit::fuzz::targets()) std::fprintf(stderr, " %s", one.name);
      std::fprintf(stderr, "\n");
      std::exit(2);
    }
    return found;
  }();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
