#pragma once

#include <cstdint>
#include <vector>

namespace headsplit::kernels::split {

/// A run of a unit's steps, and the column of CTAs that takes it.
struct Run {
  int column = 0;
  int step_begin = 0;
  int step_end = 0;

  int steps() const { return step_end - step_begin; }
};

/// What is shared among columns of CTAs: one sequence's context for the row tiles that run side by
/// side, in steps of the tile's tokens.
struct Unit {
  int request = 0;  ///< or sequence, as WorkItem has it
  int pass = 0;     ///< which group of row tiles
  int steps = 0;
  std::vector<Run> runs;
};

/// Cuts each unit into nearly equal runs of at most `run_steps` steps; the largest run goes first,
/// to the column with the least work.  item_steps: what a run costs besides its steps.
void share_in_runs(std::vector<Unit>& units, int columns, int run_steps, int item_steps);

/// Cuts each unit into `count` nearly equal runs, whatever the other units are (fewer where it has
/// fewer steps).
void share_in_count(std::vector<Unit>& units, int columns, int count, int item_steps);

/// Gives each column the same work: it is filled in the order of the units, then the next one.
/// shortest: steps of a run that is worth cutting off.
void share_in_order(std::vector<Unit>& units, int columns, int item_steps, int shortest);

}  // namespace headsplit::kernels::split
