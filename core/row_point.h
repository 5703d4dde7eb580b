#pragma once

#include "core/row.h"

namespace headsplit {

/// What a row says of its point; the shares of a rank are the agent's to fill in.  Takes no id of
/// the point, which costs more than all else of a row.
RowPoint row_point_of(const Point& point);

}  // namespace headsplit
