#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/sweep.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// How to measure the point of one row again.
struct Reproduction {
  std::string point_id;
  std::vector<std::string> facts;  ///< machine, driver, build and time of the row
  std::string file;                ///< name for the sweep file
  std::string yaml;                ///< a sweep of this one point (and its lower repeats)
  std::string command;             ///< runs that file

  bool operator==(const Reproduction&) const = default;
};
BOOST_DESCRIBE_STRUCT(Reproduction, (), (point_id, facts, file, yaml, command))

/// original: the sweep that the row is of; without it measuring settings are the defaults, which
/// the facts then say.  The sweep is planned to see that it has the point.
/// Fails: config (the model is not known here, or this version plans no such point).
Result<Reproduction> reproduce(const Row& row, const std::optional<Sweep>& original);

/// A shell script that measures it.
std::string reproduction_text(const Reproduction& reproduction);

/// The newest row whose point id is, or begins with, some text.
/// Fails: config (none, or several points; names them).
Result<Row> find_row(const std::vector<Row>& rows, const std::string& id);

}  // namespace headsplit::coordinator
