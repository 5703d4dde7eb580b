#pragma once

#include <cstdint>

#include "kernels/device/wgmma.cuh"

/// Matrix products of a warpgroup whose first operand is in registers, in bf16 or f16:
///   d[64, N] = (add ? d : 0) + a[64, 16] x b, fp32 sums
/// a: as mma_m16n8k16 has it, 16 rows a warp.  b: [N, 16] k-major or [16, N] n-major, in shared
/// memory.  N is twice what d has: 64 or 32.  PTX ISA, "wgmma.mma_async"; sm_90a.
namespace headsplit::kernels::wgmma {

struct Bf16 {};
struct F16 {};

#define HEADSPLIT_F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HEADSPLIT_F16(d, i) \
  HEADSPLIT_F4(d, i), HEADSPLIT_F4(d, i + 4), HEADSPLIT_F4(d, i + 8), HEADSPLIT_F4(d, i + 12)

#define HEADSPLIT_PRODUCT_64(Type, type, Major, across)                                      \
  __device__ __forceinline__ void product(float(&d)[32], const std::uint32_t(&a)[4],         \
                                          std::uint64_t b, bool add, Type, Major) {          \
    asm volatile(                                                                            \
        "{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"                                     \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                          \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, " \
        "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "            \
        "{%32, %33, %34, %35}, %36, add, 1, 1, " across ";\n}"                               \
        : HEADSPLIT_F16(d, 0), HEADSPLIT_F16(d, 16)                                          \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));                \
  }
#define HEADSPLIT_PRODUCT_32(Type, type, Major, across)                              \
  __device__ __forceinline__ void product(float(&d)[16], const std::uint32_t(&a)[4], \
                                          std::uint64_t b, bool add, Type, Major) {  \
    asm volatile(                                                                    \
        "{\n.reg .pred add;\nsetp.ne.b32 add, %21, 0;\n"                             \
        "wgmma.mma_async.sync.aligned.m64n32k16.f32." type "." type                  \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "  \
        "{%16, %17, %18, %19}, %20, add, 1, 1, " across ";\n}"                       \
        : HEADSPLIT_F16(d, 0)                                                        \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));        \
  }

HEADSPLIT_PRODUCT_64(Bf16, "bf16", KMajor, "0")
HEADSPLIT_PRODUCT_64(F16, "f16", KMajor, "0")
HEADSPLIT_PRODUCT_64(F16, "f16", NMajor, "1")
HEADSPLIT_PRODUCT_32(Bf16, "bf16", KMajor, "0")
HEADSPLIT_PRODUCT_32(F16, "f16", KMajor, "0")
HEADSPLIT_PRODUCT_32(F16, "f16", NMajor, "1")

#undef HEADSPLIT_PRODUCT_32
#undef HEADSPLIT_PRODUCT_64
#undef HEADSPLIT_F16
#undef HEADSPLIT_F4

}  // namespace headsplit::kernels::wgmma
