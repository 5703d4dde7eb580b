#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// One number that a row gives, by its name: a member of the row (`time_us`, `local_heads`) or a
/// ratio of members (`intensity_per_head`).  Absent where the row lacks what it needs.
struct Figure {
  const char* name;
  const char* meaning;  ///< for people: the formula and the unit
  std::optional<double> (*of)(const Row&);
};

/// All figures that claims may name.
const std::vector<Figure>& figures();
/// None when there is no figure of that name.
const Figure* find_figure(const std::string& name);

/// One text that a row gives, by its name: kernel, layout, kv_dtype, device, ...
struct Word {
  const char* name;
  std::string (*of)(const Row&);
};

/// All texts that claims may select by.
const std::vector<Word>& words();
const Word* find_word(const std::string& name);

}  // namespace headsplit::coordinator
