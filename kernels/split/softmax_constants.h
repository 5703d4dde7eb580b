#pragma once

namespace headsplit::kernels::split {

/// The reference of a row's exponentials moves only when a score passes it by more than this (log2
/// units): weights stay below 2^8, and most tiles need no rescaling.
constexpr float kRescaleThreshold = 8;
constexpr float kLog2e = 1.44269504f;
constexpr float kLn2 = 0.69314718f;

}  // namespace headsplit::kernels::split
