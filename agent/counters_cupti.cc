#include "agent/counter_session.h"
#include "agent/profilers.h"

namespace headsplit::agent {

namespace {

/// What to do about a refusal, where we know.
Error with_remedy(Error error) {
  if (error.message.find("INSUFFICIENT_PRIVILEGES") != std::string::npos) {
    error.message +=
        ": hardware counters are closed to this user; run as root (CAP_SYS_ADMIN), or load the "
        "nvidia module with NVreg_RestrictProfilingToAdminUsers=0";
  } else if (error.message.find("HARDWARE_BUSY") != std::string::npos) {
    error.message +=
        ": something else holds the counters of this GPU, such as DCGM (dcgmi profile --pause) or "
        "another profiler";
  }
  return error;
}

std::string unsupported_reason(const CUpti_Profiler_DeviceSupported_Params& p) {
  const auto off = [](CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
  };
  std::string why;
  if (off(p.architecture)) why += " its architecture is not supported;";
  if (off(p.sli)) why += " SLI is on;";
  if (off(p.vGpu)) why += " it is a virtual GPU without profiling;";
  if (off(p.confidentialCompute)) why += " confidential computing is on;";
  if (off(p.cmp)) why += " it is a mining card;";
  if (off(p.wsl)) why += " it is under WSL;";
  return why.empty() ? " CUPTI gives no cause;" : why;
}

Result<void> check_supported(const CuptiApi& api, CUdevice device) {
  CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, parameters);
  parameters.cuDevice = device;
  parameters.api = CUPTI_PROFILER_RANGE_PROFILING;
  CUPTI_TRY(api, device_supported, &parameters);
  if (parameters.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return {};
  return fail(ErrorKind::cuda, "CUPTI cannot profile this device:", unsupported_reason(parameters));
}

Result<std::string> chip_name(const CuptiApi& api, CUdevice device) {
  CUPTI_PARAMS(CUpti_Device_GetChipName_Params, parameters);
  parameters.deviceIndex = static_cast<std::size_t>(device);
  CUPTI_TRY(api, chip_name, &parameters);
  return std::string(parameters.pChipName);
}

/// Which counters this device offers now, in CUPTI's own form.
Result<std::vector<std::uint8_t>> availability_of(const CuptiApi& api, CUcontext context) {
  CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, parameters);
  parameters.ctx = context;
  CUPTI_TRY(api, counter_availability, &parameters);
  std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
  parameters.pCounterAvailabilityImage = image.data();
  CUPTI_TRY(api, counter_availability, &parameters);
  return image;
}

/// A host object and what it has planned.
struct Set {
  CounterHost host;
  CounterPlan plan;
};

Result<Set> plan_set(const CuptiApi& api, const std::string& chip, CounterSet set,
                     std::span<const std::uint8_t> availability) {
  CounterHost host = TRY(CounterHost::open(api, chip, availability));
  CounterPlan plan = TRY(host.plan(counters_of(chip, set)));
  return Set{std::move(host), std::move(plan)};
}

Result<void> check_standard(const std::string& chip, const CounterPlan& plan) {
  if (plan.rows.empty()) {
    return fail(ErrorKind::cuda, "no counters are known for the chip ", chip);
  }
  if (plan.passes == 1) return {};
  return fail(ErrorKind::cuda, "the standard counters need ", plan.passes, " passes on this ", chip,
              ", and only one is allowed");
}

}  // namespace

struct Counters::Session {
  std::string chip;
  Set standard;
  Set detail;
  CounterSession profiler;  // goes first, then the host objects
};

Counters::Counters(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Counters::Counters(Counters&&) noexcept = default;
Counters& Counters::operator=(Counters&&) noexcept = default;
Counters::~Counters() = default;

Result<Counters> Counters::open() {
  const std::string other = other_profiler(environment_variables());
  if (!other.empty()) return fail(ErrorKind::cuda, "no hardware counters: ", other);
  const DriverApi driver = TRY(load_driver());
  const CuptiApi api = TRY(load_cupti());

  CUcontext context = nullptr;
  CUdevice device = 0;
  if (driver.current_context(&context) != CUDA_SUCCESS || context == nullptr ||
      driver.current_device(&device) != CUDA_SUCCESS) {
    return fail(ErrorKind::cuda, "no current CUDA context to count in");
  }
  // After a failed initialisation any further call may crash: go no further.
  CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  CUPTI_TRY(api, initialize, &initialize);

  const auto session = [&]() -> Result<std::unique_ptr<Session>> {
    const std::string chip = TRY(chip_name(api, device));
    TRY(check_supported(api, device));
    const std::vector<std::uint8_t> availability = TRY(availability_of(api, context));
    Set standard = TRY(plan_set(api, chip, CounterSet::standard, availability));
    TRY(check_standard(chip, standard.plan));
    Set detail = TRY(plan_set(api, chip, CounterSet::detail, availability));
    CounterSession profiler = TRY(CounterSession::open(api, driver, context));
    return std::make_unique<Session>(
        Session{chip, std::move(standard), std::move(detail), std::move(profiler)});
  };
  auto opened = session();
  if (!opened) return with_remedy(opened.error());
  return Counters(std::move(opened).value());
}

Result<Counts> Counters::count(const CountRequest& request) {
  const std::size_t detail_passes = session_->detail.plan.passes;
  if (request.detail && !request.repeatable) {
    return fail(ErrorKind::config, "the detail counters launch the kernel ", detail_passes,
                " more times, which the collectives of a gang do not allow");
  }
  const auto& [chip, standard, detail, ignored] = *session_;
  std::vector<CounterRow> missing = standard.plan.missing;
  std::vector<CounterValue> values =
      TRY(session_->profiler.run(standard.host, standard.plan, request));
  if (request.detail) {
    missing.insert(missing.end(), detail.plan.missing.begin(), detail.plan.missing.end());
    const auto more = TRY(session_->profiler.run(detail.host, detail.plan, request));
    values.insert(values.end(), more.begin(), more.end());
  }
  return counts_from(chip, values, missing);
}

}  // namespace headsplit::agent
