#pragma once

#include <cstdio>
#include <cstdlib>

/// A broken invariant of our own code: print where, and abort.  Never for bad input.
#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
