#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/counter_table.h"
#include "agent/cupti_api.h"

namespace headsplit::agent {

/// A set of counters made ready for one chip.
struct CounterPlan {
  std::vector<CounterRow> rows;     ///< in the order that values come out
  std::vector<CounterRow> missing;  ///< refused by name for this chip
  std::vector<std::uint8_t> config_image;
  std::size_t passes = 0;  ///< how often the launch must run
};

/// Plans and evaluates counters for a chip; needs no GPU.
class CounterHost {
 public:
  /// availability: of the device at hand, or empty to plan from the chip's name alone.
  /// Fails: cuda (the host library does not know the chip).
  static Result<CounterHost> open(const CuptiApi& api, const std::string& chip,
                                  std::span<const std::uint8_t> availability);

  /// The fewest passes that collect the rows that this chip has.  Each host object holds one plan.
  /// Fails: cuda.
  Result<CounterPlan> plan(const std::vector<CounterRow>& rows);

  /// Values of the first range in `counter_data`, in the order of the plan's rows.  Fails: cuda.
  Result<std::vector<double>> evaluate(const CounterPlan& plan,
                                       std::span<const std::uint8_t> counter_data) const;

 private:
  struct Close {
    decltype(CuptiApi::host_deinitialize) deinitialize;
    void operator()(CUpti_Profiler_Host_Object* host) const;
  };
  using Handle = std::unique_ptr<CUpti_Profiler_Host_Object, Close>;
  CounterHost(const CuptiApi& api, std::string chip, std::vector<std::uint8_t> availability,
              Handle host)
      : api_(api),
        chip_(std::move(chip)),
        availability_(std::move(availability)),
        host_(std::move(host)) {}
  CUptiResult add_metrics(std::span<const CounterRow> rows) const;
  Result<void> add_known(const std::vector<CounterRow>& rows, CounterPlan& plan);

  CuptiApi api_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;  ///< the host object points into it
  Handle host_;
};

/// Chip names that the host library knows.  Fails: cuda.
Result<std::vector<std::string>> known_chips(const CuptiApi& api);

/// Names of the rows' metrics as C strings, for CUPTI's calls.
std::vector<const char*> metric_names(std::span<const CounterRow> rows);

}  // namespace headsplit::agent
