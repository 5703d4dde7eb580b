#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace headsplit::kernels {

struct FreeAligned {
  void operator()(void* memory) const { std::free(memory); }
};

/// Memory of plain numbers on a cache-line boundary, not initialised; large arrays lie on huge
/// pages where the system has them.
template <class T>
using AlignedArray = std::unique_ptr<T[], FreeAligned>;

/// Throws std::bad_alloc.
template <class T>
AlignedArray<T> make_aligned(std::size_t count) {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  const std::size_t needed_bytes = count * sizeof(T);
  const std::size_t boundary = needed_bytes < 4 * kHugePageBytes ? kLineBytes : kHugePageBytes;
  const std::size_t bytes = (needed_bytes / boundary + 1) * boundary;
  void* memory = std::aligned_alloc(boundary, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  // A wish, which a system may refuse: then the pages are small, and nothing else changes.
  if (boundary == kHugePageBytes) madvise(memory, bytes, MADV_HUGEPAGE);
  return AlignedArray<T>(static_cast<T*>(memory));
}

/// The same with every value 0.
template <class T>
AlignedArray<T> make_zeroed(std::size_t count) {
  AlignedArray<T> array = make_aligned<T>(count);
  std::fill_n(array.get(), count, T{});
  return array;
}

inline AlignedArray<float> zeros(std::int64_t count) {
  return make_zeroed<float>(static_cast<std::size_t>(count));
}

/// Next multiple of `multiple`.
constexpr std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

}  // namespace headsplit::kernels
