#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "agent/device.h"
#include "kernels/mla_dense/reference.h"

namespace headsplit::agent {

/// A device of scripted speed whose kernel is the fp64 reference itself: what the protocol makes of
/// given times, counters and faults can then be stated exactly.
class FakeDevice final : public Device {
 public:
  struct Script {
    std::function<double(int launch)> time_us = [](int) { return 100.0; };
    double split_share = 0.75;  ///< of a launch; the rest is the combine
    int num_splits = 1;
    kernels::Arithmetic arithmetic = kernels::Arithmetic::stored;
    double output_error = 0;  ///< added to every output value
    bool writes_output = true;
    /// Does its work only when it is not timed.
    bool cheats = false;
    Counts counts{.reason = "the fake counts nothing"};
    std::function<DeviceState()> state = [] { return DeviceState(); };
    Result<void> launch_result = {};
    std::int64_t memory_bytes = 1 << 30;
  };

  explicit FakeDevice(Script script) : script_(std::move(script)) {
    info_ = {.name = "fake", .memory_bytes = script_.memory_bytes, .compute_units = 1};
  }

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string& kernel,
                                                     const kernels::Problem& problem,
                                                     int fixed_splits) override {
    bound_with_splits.push_back(fixed_splits);
    if (kernel != "mla_dense") return fail(ErrorKind::config, "no kernel '", kernel, "'");
    return std::unique_ptr<kernels::BoundKernel>(std::make_unique<Kernel>(script_, problem));
  }

  Result<std::vector<kernels::ReferenceRow>> reference_rows(
      const kernels::Problem& problem, std::span<const std::int64_t> rows) override {
    ++references_made;
    return kernels::mla_dense_reference_rows(problem, rows);
  }

  Result<Timed> time(kernels::BoundKernel& kernel, const TimeRequest& request) override {
    Timed timed;
    for (int i = 0; i < request.launches; ++i) {
      if (auto launched = launch_timed(kernel, request.part); !launched) return launched.error();
      timed.samples_us.push_back(script_.time_us(launch_++) * share_of(request.part));
      timed.gpu_s += timed.samples_us.back() * 1e-6;
    }
    return timed;
  }

  Result<double> time_poisoned_us(kernels::BoundKernel& kernel, L2) override {
    if (auto poisoned = kernel.poison(); !poisoned) return poisoned.error();
    if (auto launched = launch_timed(kernel, kernels::Part::all); !launched) {
      return launched.error();
    }
    return script_.time_us(launch_);
  }

  Result<Counts> count(kernels::BoundKernel&, const CountMode& mode) override {
    counted.push_back(mode);
    return script_.counts;
  }
  DeviceState state() override { return script_.state(); }

  int references_made = 0;
  std::vector<int> bound_with_splits;
  std::vector<CountMode> counted;

 private:
  class Kernel final : public kernels::BoundKernel {
   public:
    Kernel(const Script& script, kernels::Problem problem)
        : script_(script), problem_(std::move(problem)) {
      config_ = {.num_splits = script.num_splits, .reason = "scripted"};
    }

    const kernels::Config& config() const override { return config_; }
    kernels::Arithmetic arithmetic() const override { return script_.arithmetic; }
    Result<void> poison() override {
      written_ = false;
      return {};
    }
    Result<void> launch(kernels::Part) override {
      written_ = script_.writes_output;
      return script_.launch_result;
    }
    Result<std::vector<kernels::OutputRow>> output_rows(
        std::span<const std::int64_t> rows) override {
      std::vector<kernels::OutputRow> outputs;
      for (const std::int64_t row : rows) {
        const auto reference = kernels::mla_dense_reference(problem_, row);
        kernels::OutputRow output;
        output.lse = static_cast<float>(reference.lse);
        for (const double value : reference.values) {
          const double written =
              written_ ? value + script_.output_error : std::numeric_limits<double>::quiet_NaN();
          output.values.push_back(static_cast<float>(written));
        }
        outputs.push_back(std::move(output));
      }
      return outputs;
    }

   private:
    const Script& script_;
    kernels::Problem problem_;
    kernels::Config config_;
    bool written_ = false;
  };

  Result<void> launch_timed(kernels::BoundKernel& kernel, kernels::Part part) {
    return script_.cheats ? Result<void>() : kernel.launch(part);
  }

  double share_of(kernels::Part part) const {
    if (part == kernels::Part::split) return script_.split_share;
    if (part == kernels::Part::combine) return 1 - script_.split_share;
    return 1;
  }

  Script script_;
  DeviceInfo info_;
  int launch_ = 0;
};

}  // namespace headsplit::agent
