#pragma once

#include <string>
#include <vector>

#include "core/row.h"
#include "tp/correction.h"

namespace headsplit::cli {

/// The ok rows of databases and of .jsonl files; no paths: none.
/// Fails: config, naming --db (as coordinator::read_row_file).
Result<std::vector<Row>> measured_rows(const std::vector<std::string>& paths);

/// A device of configs/devices.yaml, with the ceilings that its measured rows carry in place of the
/// data sheet.  Fails: as tp::read_device.
Result<tp::Device> device_of(const std::string& name, const std::vector<Row>& rows);

/// Times of a model's kernels on a device: by the data sheet without a database, else corrected by
/// its rows.  paths: where the rows are from.  Fails: config (no row of that device and those
/// widths in them; says what devices they have).
Result<tp::TimeModel> time_model(const tp::Device& device, const tp::Model& model,
                                 const std::vector<Row>& rows,
                                 const std::vector<std::string>& paths);

}  // namespace headsplit::cli
