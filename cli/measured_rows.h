#pragma once

#include <string>
#include <vector>

#include "core/row.h"
#include "tp/correction.h"

namespace headsplit::cli {

/// The ok rows of a database; empty path: none.  Fails: config (no such file, not a database).
Result<std::vector<Row>> measured_rows(const std::string& database);

/// A device of configs/devices.yaml, with the ceilings that its measured rows carry in place of the
/// data sheet.  Fails: as tp::read_device.
Result<tp::Device> device_of(const std::string& name, const std::vector<Row>& rows);

/// Times of a model's kernels on a device: by the data sheet without a database, else corrected by
/// its rows.  Fails: config (a database without a row of that device and those widths; says what
/// devices it has).
Result<tp::TimeModel> time_model(const tp::Device& device, const tp::Model& model,
                                 const std::vector<Row>& rows, const std::string& database);

}  // namespace headsplit::cli
