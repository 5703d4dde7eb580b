#pragma once

#include <cstdlib>
#include <memory>
#include <new>

namespace headsplit::kernels {

struct FreeAligned {
  void operator()(void* memory) const { std::free(memory); }
};

/// Memory of plain numbers on a cache-line boundary, not initialised.
template <class T>
using AlignedArray = std::unique_ptr<T[], FreeAligned>;

/// Throws std::bad_alloc.
template <class T>
AlignedArray<T> make_aligned(std::size_t count) {
  constexpr std::size_t kLineBytes = 64;
  const std::size_t bytes = (count * sizeof(T) / kLineBytes + 1) * kLineBytes;
  void* memory = std::aligned_alloc(kLineBytes, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return AlignedArray<T>(static_cast<T*>(memory));
}

}  // namespace headsplit::kernels
