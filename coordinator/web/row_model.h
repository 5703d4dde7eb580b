#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/row.h"
#include "tp/device.h"
#include "tp/model.h"

namespace headsplit::coordinator {

/// One roof of a device: its memory slope and its flat top.
struct Roof {
  std::string device;  ///< as its driver reports it, so as rows name it
  std::string name;    ///< precision of the flat top: "bf16", "fp8"
  double tflops = 0;
  double gbps = 0;
  std::string source;  ///< "data sheet" or "measured"

  bool operator==(const Roof&) const = default;
};
BOOST_DESCRIBE_STRUCT(Roof, (), (device, name, tflops, gbps, source))

/// What the model says of measured rows.  Remembers the models and devices it has read.
class RowModel {
 public:
  /// The roofline's time for rank 0 of the row's point on the row's device, in microseconds.
  /// Nothing for devices that configs/devices.yaml does not know (CPUs), and for points whose
  /// model or kernel has no cost.
  std::optional<double> time_us(const Row& row);

  std::vector<std::optional<double>> times_us(const std::vector<Row>& rows);

  /// Roofs of a device; none of one that nobody has described.
  std::vector<Roof> roofs_of(const std::string& device);

 private:
  const std::optional<tp::Device>& device(const std::string& name);
  const std::optional<tp::Model>& model(const std::string& name);

  std::map<std::string, std::optional<tp::Device>> devices_;
  std::map<std::string, std::optional<tp::Model>> models_;
};

}  // namespace headsplit::coordinator
