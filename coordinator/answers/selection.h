#pragma once

#include <limits>
#include <string>
#include <vector>

#include "coordinator/answers/figure.h"
#include "coordinator/yaml_value.h"

namespace headsplit::coordinator {

/// Numbers from low to high, both ends included.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool holds(double value) const { return value >= low && value <= high; }
  bool operator==(const Range&) const = default;
};

/// "1.83 to 1.95", "0.25 and more", "at most 1.2".
std::string range_text(const Range& range);
/// Four digits, or all before the point: "0.2513", "1516", "23".
std::string number_text(double value);

/// Which rows a claim speaks of: every condition holds.
struct Selection {
  struct Words {
    const Word* word = nullptr;
    std::vector<std::string> any_of;
  };
  struct Numbers {
    const Figure* figure = nullptr;
    std::vector<Range> any_of;
  };
  std::vector<Words> words;
  std::vector<Numbers> numbers;

  /// A row that lacks a figure does not match a condition on it.  `device` matches by a part of
  /// the name ("H200"), all other words as a whole.
  bool matches(const Row& row) const;
  /// "kernel mla_dense, context 16384 and more".
  std::string text() const;
};

/// A map of names to a value, a list, or for numbers {min, max}.  Fails: config.
Result<Selection> read_selection(const YamlValue& value);

/// A number; K and M are 1024 and 1024^2.
Result<double> read_number(const YamlValue& value);

}  // namespace headsplit::coordinator
