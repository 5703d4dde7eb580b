#pragma once

#include <cstdint>

/// Every PTX instruction of the kernels but matrix products of warpgroups: one a function, with its
/// section of the PTX ISA manual (docs.nvidia.com/cuda/parallel-thread-execution).  Shared memory
/// is addressed with 32 bits.
namespace headsplit::kernels::ptx {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Four 8x8 matrices of 16-bit values; lane l gives the address of row l % 8 of matrix l / 8.
/// "Warp-level matrix instructions: ldmatrix"; sm_75.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&out)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

/// The same, each matrix transposed.  "Warp-level matrix instructions: ldmatrix"; sm_75.
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&out)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

/// d[16, 8] += a[16, 16] x b[16, 8], bf16 in, fp32 out.
/// "Warp-level matrix instructions: mma"; sm_80.
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same value, of which the compiler knows nothing: what is added to it stays in the offsets of
/// instructions, instead of becoming a new address each time.  No instruction.
__device__ __forceinline__ std::uint32_t opaque(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ std::uint64_t opaque(std::uint64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

/// Copies 16 bytes from global to shared memory past L1.
/// "Data movement instructions: cp.async"; sm_80.
__device__ __forceinline__ void cp_async_16(std::uint32_t shared, std::uint64_t global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}

/// The same; policy: of the lines in L2.
/// "Data movement instructions: cp.async"; sm_80.
__device__ __forceinline__ void cp_async_16(std::uint32_t shared, std::uint64_t global,
                                            std::uint64_t policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared),
               "l"(global), "l"(policy)
               : "memory");
}

/// A policy for lines that are the first to go from L2.
/// "Data movement instructions: createpolicy"; sm_80.
__device__ __forceinline__ std::uint64_t evict_first_policy() {
  std::uint64_t policy = 0;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// The policy of lines that are given none.
/// "Data movement instructions: createpolicy"; sm_80.
__device__ __forceinline__ std::uint64_t evict_normal_policy() {
  std::uint64_t policy = 0;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// The same where `real`; else 16 zeros, and nothing is read.
/// "Data movement instructions: cp.async"; sm_80.
__device__ __forceinline__ void cp_async_16_or_zeros(std::uint32_t shared, const void* global,
                                                     bool real) {
  const std::uint32_t source_bytes = real ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
               "r"(source_bytes)
               : "memory");
}

/// "Data movement instructions: cp.async.wait_all"; sm_80.
__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/// Ends a group of the copies that this thread has started.
/// "Data movement instructions: cp.async.commit_group"; sm_80.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `kPending` groups of this thread have not landed.
/// "Data movement instructions: cp.async.wait_group"; sm_80.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Arrives at the barrier once all earlier cp.async of this thread have landed; the arrival counts
/// as one of those the barrier was initialised with.
/// "mbarrier: cp.async.mbarrier.arrive"; sm_80.
__device__ __forceinline__ void cp_async_mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// "mbarrier: mbarrier.init"; sm_80.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// "mbarrier: mbarrier.arrive"; sm_80.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier)
               : "memory");
}

/// Whether the phase of that parity is over.  From sm_90 on the thread may sleep a while for it.
/// "mbarrier: mbarrier.test_wait / mbarrier.try_wait"; sm_80 / sm_90.
__device__ __forceinline__ bool mbarrier_try_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred done;\nmbarrier.try_wait.parity.shared.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#else
  asm volatile(
      "{\n.reg .pred done;\nmbarrier.test_wait.parity.shared.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#endif
  return done != 0;
}

/// Arrives at the barrier, whose phase also waits for so many bytes of the copy engine.
/// "mbarrier: mbarrier.arrive"; sm_90.
__device__ __forceinline__ void mbarrier_arrive_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile(
      "{\n.reg .b64 state;\nmbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;\n}" ::"r"(
          barrier),
      "r"(bytes)
      : "memory");
}

/// So many bytes (a multiple of 16) into shared memory as they lie.  They count at the barrier.
/// "Data movement: cp.async.bulk"; sm_90.
__device__ __forceinline__ void copy_bytes(std::uint32_t shared, const void* global,
                                           std::uint32_t bytes, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared),
      "l"(global), "r"(bytes), "r"(barrier)
      : "memory");
}

/// A box of a tensor of four dimensions into shared memory, swizzled as the tensor map says; what
/// lies outside the tensor is 0.  Its bytes count at the barrier.
/// "Data movement: cp.async.bulk.tensor"; sm_90.
__device__ __forceinline__ void copy_box(std::uint32_t shared, const void* tensor_map,
                                         const int (&at)[4], std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared),
      "l"(tensor_map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(barrier)
      : "memory");
}

/// Barriers that this thread has initialised are known to the copy engine.
/// "Parallel synchronization instructions: fence"; sm_90.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// What the copy engine reads of a tensor map, ahead of its first use.
/// "Data movement: prefetch"; sm_90.
__device__ __forceinline__ void prefetch_tensor_map(const void* tensor_map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(tensor_map) : "memory");
}

/// Brings a line to L2.  "Data movement and conversion instructions: prefetch"; sm_80.
__device__ __forceinline__ void prefetch_l2(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global) : "memory");
}

/// Waits until `threads` threads of the block have come to the named barrier (1..15).
/// "Parallel synchronization instructions: bar.sync"; sm_70.
__device__ __forceinline__ void barrier_sync(int name, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

/// The same; gives whether `value` is true for any of the threads.
/// "Parallel synchronization instructions: bar.red"; sm_70.
__device__ __forceinline__ bool barrier_or(int name, int threads, bool value) {
  int any = 0;
  asm volatile(
      "{\n.reg .pred value, any;\nsetp.ne.s32 value, %3, 0;\n"
      "bar.red.or.pred any, %1, %2, value;\nselp.s32 %0, 1, 0, any;\n}"
      : "=r"(any)
      : "r"(name), "r"(threads), "r"(static_cast<int>(value))
      : "memory");
  return any != 0;
}

/// The same in f16.  "Warp-level matrix instructions: mma"; sm_80.
__device__ __forceinline__ void mma_m16n8k16_f16(float (&d)[4], const std::uint32_t (&a)[4],
                                                 std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Four e4m3 values as f16, exactly: the two in the low half of `values`, and the two in the high.
/// "Data movement and conversion instructions: cvt"; sm_89.
__device__ __forceinline__ void e4m3_to_f16(std::uint32_t& low, std::uint32_t& high,
                                            std::uint32_t values) {
  asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %2;\n"
      "cvt.rn.f16x2.e4m3x2 %0, l;\ncvt.rn.f16x2.e4m3x2 %1, h;\n}"
      : "=r"(low), "=r"(high)
      : "r"(values));
}

/// Two values rounded to e4m3, `low` in the low byte; beyond 448 they saturate.
/// "Data movement and conversion instructions: cvt"; sm_89.
__device__ __forceinline__ std::uint32_t pack_e4m3(float low, float high) {
  std::uint16_t result;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(result) : "f"(high), "f"(low));
  return result;
}

/// Two values rounded to f16, `low` in the low half.
/// "Data movement and conversion instructions: cvt"; sm_80.
__device__ __forceinline__ std::uint32_t pack_f16(float low, float high) {
  std::uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// "Half precision floating point instructions: mul"; sm_53.
__device__ __forceinline__ std::uint32_t multiply_f16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

/// 2^x, relative error at most 2^-22; denormals give 0.
/// "Floating point instructions: ex2"; sm_50.
__device__ __forceinline__ float exp2_approx(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Two values rounded to bf16, `low` in the low half.
/// "Data movement and conversion instructions: cvt"; sm_80.
__device__ __forceinline__ std::uint32_t pack_bf16(float low, float high) {
  std::uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// The larger of each half, bf16.  "Half precision comparison instructions: max"; sm_80.
__device__ __forceinline__ std::uint32_t max_bf16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

/// Adds four values to four in global memory.  Gives nothing back, so nobody waits for it.
/// "Parallel synchronization instructions: red"; sm_90.
__device__ __forceinline__ void add_global(float* target, const float (&value)[4]) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(target), "f"(value[0]),
               "f"(value[1]), "f"(value[2]), "f"(value[3])
               : "memory");
}

/// "Data movement and conversion instructions: st"; 4 bytes to shared memory.
__device__ __forceinline__ void store_shared(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// "Data movement and conversion instructions: st"; 2 bytes to shared memory.
__device__ __forceinline__ void store_shared_16(std::uint32_t address, std::uint16_t value) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(value) : "memory");
}

/// "Data movement and conversion instructions: st"; 8 or 16 bytes to shared memory.
__device__ __forceinline__ void store_shared(std::uint32_t address,
                                             const std::uint32_t (&value)[2]) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(value[0]), "r"(value[1])
               : "memory");
}
__device__ __forceinline__ void store_shared(std::uint32_t address, const float (&value)[4]) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value[0]),
               "f"(value[1]), "f"(value[2]), "f"(value[3])
               : "memory");
}

/// "Data movement and conversion instructions: ld"; 16 bytes from shared memory.
__device__ __forceinline__ void load_shared(float (&value)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
               : "r"(address)
               : "memory");
}

/// "Data movement and conversion instructions: ld"; 16 or 8 bytes from shared memory.
__device__ __forceinline__ void load_shared(std::uint32_t (&value)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]), "=r"(value[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_shared(std::uint32_t (&value)[2], std::uint32_t address) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(value[0]), "=r"(value[1])
               : "r"(address)
               : "memory");
}

/// Four 8x8 matrices of 16-bit values; lane l gives the address of row l % 8 of matrix l / 8.
/// "Warp-level matrix instructions: stmatrix"; sm_90.
__device__ __forceinline__ void stmatrix_x4(std::uint32_t address,
                                            const std::uint32_t (&value)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3])
               : "memory");
}

/// This thread's earlier accesses of shared memory come before what wgmma and the copy engine do
/// there.  "Parallel synchronization instructions: fence.proxy"; sm_90.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Registers of each thread of this warpgroup from here on, fewer or more than before; a multiple
/// of 8.  "Miscellaneous instructions: setmaxnreg"; sm_90a.
template <int kCount>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// "Data movement and conversion instructions: ld"; 4 bytes from shared memory.
__device__ __forceinline__ std::uint32_t load_shared(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

/// Lets the next kernel of the stream start while this one still runs; nothing before sm_90.
/// "Parallel synchronization instructions: griddepcontrol"; sm_90.
__device__ __forceinline__ void allow_dependent_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the kernel before this one is done and its writes are visible; nothing before
/// sm_90, where kernels of a stream do not overlap.
/// "Parallel synchronization instructions: griddepcontrol"; sm_90.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// CTAs of this one's cluster, and its number among them; nothing before sm_90: 1 and 0.
/// "Special registers: %cluster_nctarank, %cluster_ctarank"; sm_90.
__device__ __forceinline__ int cluster_size() {
#if __CUDA_ARCH__ >= 900
  std::uint32_t value;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
  return static_cast<int>(value);
#else
  return 1;
#endif
}
__device__ __forceinline__ int cluster_rank() {
#if __CUDA_ARCH__ >= 900
  std::uint32_t value;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return static_cast<int>(value);
#else
  return 0;
#endif
}

/// All threads of the cluster arrive, and wait for each other: what was written to shared memory
/// before is seen after.  "Parallel synchronization instructions: barrier.cluster"; sm_90.
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// A value in shared memory of another CTA of the cluster, at this one's address of it.
/// "Data movement and conversion instructions: mapa, ld.shared::cluster"; sm_90.
__device__ __forceinline__ std::uint32_t load_cluster(std::uint32_t address, int rank) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t there;
  std::uint32_t value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  return value;
#else
  return load_shared(address);
#endif
}

}  // namespace headsplit::kernels::ptx
