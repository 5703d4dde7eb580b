#pragma once

#include <string>

#include "core/json.h"

namespace headsplit {

/// How P ranks share one attention problem: heads over tp, requests over dp, context over cp.
struct Layout {
  int tp = 1;
  int dp = 1;
  int cp = 1;

  int ranks() const { return tp * dp * cp; }
  bool operator==(const Layout&) const = default;
};
BOOST_DESCRIBE_STRUCT(Layout, (), (tp, dp, cp))

/// "tp4xdp2"; parts of 1 are left out, and one rank alone is "tp1".
std::string layout_name(const Layout& layout);

/// The layout of such a name ("tp8", "tp4xdp2", "cp8").  Fails: config (says what is legal).
Result<Layout> layout_from_name(const std::string& name);

}  // namespace headsplit
