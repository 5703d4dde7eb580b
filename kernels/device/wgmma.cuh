#pragma once

#include <cstdint>

/// Matrix products of a warpgroup (four warps, 128 threads) and the descriptors of their operands
/// in shared memory.  PTX ISA, "Asynchronous warpgroup level matrix instructions"; sm_90a.
///
/// Tiles in shared memory are swizzled as tile_layout.h says (128-byte rows) or in the same manner
/// for rows of 64 bytes.  A descriptor's low word is the address and the leading byte offset, both
/// / 16: adding bytes / 16 to it moves along the tile.
namespace headsplit::kernels::wgmma {

enum class Swizzle : std::uint32_t { bytes_128 = 1, bytes_64 = 2 };

/// Operand of which rows follow each other along the contraction (A and keys): groups of eight rows
/// follow each other without a gap.
template <Swizzle kSwizzle>
__device__ __forceinline__ std::uint64_t k_major(std::uint32_t address) {
  constexpr std::uint32_t kGroupBytes = kSwizzle == Swizzle::bytes_128 ? 1024 : 512;
  constexpr std::uint32_t kHigh = kGroupBytes / 16 | std::uint32_t(kSwizzle) << 30;
  return std::uint64_t{kHigh} << 32 | 1u << 16 | (address & 0x3FFFF) / 16;
}

/// Operand of 128-byte rows that lie across the contraction (values): `column_block_bytes` from 64
/// columns to the next 64.
__device__ __forceinline__ std::uint64_t n_major(std::uint32_t address,
                                                 std::uint32_t column_block_bytes) {
  constexpr std::uint32_t kHigh = 1024 / 16 | std::uint32_t(Swizzle::bytes_128) << 30;
  return std::uint64_t{kHigh} << 32 | (column_block_bytes / 16) << 16 | (address & 0x3FFFF) / 16;
}

/// What this thread wrote to the registers of products that follow is visible to them.
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `kPending` committed groups are not done.
template <int kPending>
__device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// The compiler knows nothing of products in flight: after a wait, this says that they have written
/// these registers.  No instruction.
template <int kCount>
__device__ __forceinline__ void written(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

#define HEADSPLIT_F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HEADSPLIT_F16(d, i) \
  HEADSPLIT_F4(d, i), HEADSPLIT_F4(d, i + 4), HEADSPLIT_F4(d, i + 8), HEADSPLIT_F4(d, i + 12)
#define HEADSPLIT_F64(d, i) \
  HEADSPLIT_F16(d, i), HEADSPLIT_F16(d, i + 16), HEADSPLIT_F16(d, i + 32), HEADSPLIT_F16(d, i + 48)

/// d[64, 32] = (add ? d : 0) + a[64, 16] x b[32, 16]^T; a in registers as mma_m16n8k16 has it, 16
/// rows a warp; b k-major.  bf16 in, fp32 out.
__device__ __forceinline__ void m64n32k16(float (&d)[16], const std::uint32_t (&a)[4],
                                          std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "{%16, %17, %18, %19}, %20, add, 1, 1, 0;\n}"
      : HEADSPLIT_F16(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}

/// The same with a in shared memory, k-major.
__device__ __forceinline__ void m64n32k16(float (&d)[16], std::uint64_t a, std::uint64_t b,
                                          bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "%16, %17, add, 1, 1, 0, 0;\n}"
      : HEADSPLIT_F16(d, 0)
      : "l"(a), "l"(b), "r"(int(add)));
}

/// d[64, 256] = (add ? d : 0) + a[64, 16] x b[16, 256]; a k-major, b n-major, both in shared
/// memory.
__device__ __forceinline__ void m64n256k16(float (&d)[128], std::uint64_t a, std::uint64_t b,
                                           bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
      "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
      "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, "
      "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "
      "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "
      "%126, %127}, "
      "%128, %129, add, 1, 1, 0, 1;\n}"
      : HEADSPLIT_F64(d, 0), HEADSPLIT_F64(d, 64)
      : "l"(a), "l"(b), "r"(int(add)));
}

/// How the second operand of a product lies: rows along the contraction, or across it.
struct KMajor {};
struct NMajor {};

/// d[64, 64] = (add ? d : 0) + a[64, 16] x b[64, 16]^T; both k-major, in shared memory.  Of an
/// array for more columns it is the first half.
__device__ __forceinline__ void m64n64k16(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                          bool add, KMajor) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1, 0, 0;\n}"
      : HEADSPLIT_F16(d, 0), HEADSPLIT_F16(d, 16)
      : "l"(a), "l"(b), "r"(int(add)));
}

/// The same for 128 columns.
__device__ __forceinline__ void m64n128k16(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                           bool add, KMajor) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n}"
      : HEADSPLIT_F64(d, 0)
      : "l"(a), "l"(b), "r"(int(add)));
}

/// d[64, 64] = (add ? d : 0) + a[64, 16] x b[16, 64]; a in registers as mma_m16n8k16 has it, 16
/// rows a warp; b n-major, in shared memory.
__device__ __forceinline__ void m64n64k16(float (&d)[32], const std::uint32_t (&a)[4],
                                          std::uint64_t b, bool add, NMajor) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1, 1;\n}"
      : HEADSPLIT_F16(d, 0), HEADSPLIT_F16(d, 16)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}

/// d[64, 128] = (add ? d : 0) + a[64, 16] x b[16, 128]; a in registers as mma_m16n8k16 has it, 16
/// rows a warp; b n-major, in shared memory.
__device__ __forceinline__ void m64n128k16(float (&d)[64], const std::uint32_t (&a)[4],
                                           std::uint64_t b, bool add, NMajor) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, add, 1, 1, 1;\n}"
      : HEADSPLIT_F64(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}

/// The same for 256 columns.
__device__ __forceinline__ void m64n256k16(float (&d)[128], const std::uint32_t (&a)[4],
                                           std::uint64_t b, bool add, NMajor) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, "
      "{%128, %129, %130, %131}, %132, add, 1, 1, 1;\n}"
      : HEADSPLIT_F64(d, 0), HEADSPLIT_F64(d, 64)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}

/// d[64, N] = (add ? d : 0) + a[64, 32] x b[N, 32]^T for N of 16, 32 and 64, e4m3 in, fp32 out; a
/// in registers (a thread has four values of rows lane / 4 and lane / 4 + 8 from 4 x (lane % 4) on,
/// then of both 16 further on), 16 rows a warp; b k-major, in shared memory.
__device__ __forceinline__ void e4m3_product(float (&d)[8], const std::uint32_t (&a)[4],
                                             std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %13, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, add, 1, 1;\n}"
      : HEADSPLIT_F4(d, 0), HEADSPLIT_F4(d, 4)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}
__device__ __forceinline__ void e4m3_product(float (&d)[16], const std::uint32_t (&a)[4],
                                             std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "{%16, %17, %18, %19}, %20, add, 1, 1;\n}"
      : HEADSPLIT_F16(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}
__device__ __forceinline__ void e4m3_product(float (&d)[32], const std::uint32_t (&a)[4],
                                             std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1;\n}"
      : HEADSPLIT_F16(d, 0), HEADSPLIT_F16(d, 16)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}

/// d[64, 64] = (add ? d : 0) + a[64, 32] x b[64, 32]^T, e4m3 in, fp32 out; both k-major, in shared
/// memory.
__device__ __forceinline__ void e4m3_product(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                             bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1;\n}"
      : HEADSPLIT_F16(d, 0), HEADSPLIT_F16(d, 16)
      : "l"(a), "l"(b), "r"(int(add)));
}

#undef HEADSPLIT_F64
#undef HEADSPLIT_F16
#undef HEADSPLIT_F4

}  // namespace headsplit::kernels::wgmma
