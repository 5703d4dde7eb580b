#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/row.h"
#include "tp/device.h"
#include "tp/local_fit.h"
#include "tp/model.h"
#include "tp/roofline.h"

namespace headsplit::tp {

/// How far real launches of one kernel stay behind the roofline:
///   time = floor + max(memory / memory_efficiency, max(tensor, dequant) / tensor_efficiency)
struct Derating {
  double floor_us = 0;
  double tensor_efficiency = 1;
  double memory_efficiency = 1;

  double time_us(const Roofline& line) const;
};

/// A time, and where it comes from.
struct Estimate {
  double time_us = 0;
  Limiter limiter = Limiter::unknown;
  Provenance source = Provenance::model;  ///< measured: a row of exactly this problem
  /// "row", "data sheet", or "12 rows, nearest 32 heads B=16 T=1 L=8192 (memory)".
  std::string basis;
  double error = 0;        ///< expected, relative to the time
  bool corrected = false;  ///< rows of this kernel had a say in it
};

/// What the roofline of a data sheet is off by when no row corrects it: kernels of this project and
/// published ones take 1.1 to 1.8 times as long where they are bound by a roof.
constexpr double kUncorrectedError = 0.3;
constexpr const char* kDataSheetBasis = "data sheet";
/// What repeats of a row differ by.
constexpr double kRowError = 0.01;

/// Cold-cache time of one rank problem on one device: the median of its rows.
struct Measurement {
  std::string kernel;
  RankProblem problem;
  Work work;
  std::string label;  ///< "32 heads B=16 T=1 L=8192"
  double time_us = 0;
};

/// The rank problems that ok rows of a device have timed, each once, sorted by kernel and shape.
/// Only rows whose useful FLOPs are those of this model's widths count.
std::vector<Measurement> measurements(const Device& device, const Model& model,
                                      const std::vector<Row>& rows);

/// Times of kernels by the roofline, corrected by measured rows: the derating that fits a kernel's
/// rows best, and around it a plane through the residuals of the nearest rows.  The expected error
/// is what the nearest rows are missed by when each is predicted from the others.  A kernel without
/// rows is derated as the one with the most rows is, so that it does not win for lack of rows.
class TimeModel {
 public:
  /// By the data sheet alone.
  explicit TimeModel(const Device& device) : rates_(rates_of(device)) {}

  /// Corrected by the ok rows of that device whose useful FLOPs are those of this model's widths;
  /// other rows do not count.  Cold-cache times; repeats by their median.
  TimeModel(const Device& device, const Model& model, const std::vector<Row>& rows);

  const Rates& rates() const { return rates_; }
  /// Rows that correct anything.
  std::size_t row_count() const;

  /// kernel: as in the rows.  work: of the problem, one rank and layer.
  Estimate estimate(const std::string& kernel, const RankProblem& problem, const Work& work) const;

 private:
  struct Sample {
    RankProblem problem;
    std::string label;
    Roofline line;
    double time_us = 0;
  };
  /// What is known of one kernel with one cache type.
  struct Known {
    std::string name;  ///< kernel and cache type
    std::vector<Sample> samples;
    Derating derating;
    std::vector<PlacedValue> residuals;  ///< logarithms of measured over derated time
    std::vector<double> misses;          ///< |logarithm| of what the others predict over measured
  };
  Estimate estimate_from(const Known& known, const RankProblem& problem,
                         const Roofline& line) const;
  const Known* most_known() const;
  void learn(Known& known) const;
  static std::string key_of(const std::string& kernel, KvDtype dtype);

  Rates rates_;
  std::map<std::string, Known> known_;
};

/// Derating that makes the least sum of |log(time / measured)| over some rooflines and times.
/// lines and measured_us: [n], n >= 1.
Derating fit_derating(const std::vector<Roofline>& lines, const std::vector<double>& measured_us);

/// The ok rows of a device, by its name or what drivers call it; not those of fixed splits, which
/// a kernel does not choose.
std::vector<Row> rows_of_device(const std::vector<Row>& rows, const Device& device);

/// Ceilings that those rows carry, by their medians: what was measured on the very device.
Ceilings ceilings_of_rows(const std::vector<Row>& rows, const Device& device);

}  // namespace headsplit::tp
