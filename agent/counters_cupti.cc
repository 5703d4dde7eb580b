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

Result<void> wait(const DriverApi& driver) {
  const CUresult result = driver.synchronize();
  if (result == CUDA_SUCCESS) return {};
  return fail(ErrorKind::cuda, "cuCtxSynchronize: CUDA error ", static_cast<int>(result));
}

/// A host object and what it has planned.
struct Set {
  CounterHost host;
  CounterPlan plan;
};

/// From the chip's name alone: asking the device which counters it offers now takes half a second
/// and gives the same plan.
Result<Set> plan_set(const CuptiApi& api, const std::string& chip, CounterSet set) {
  CounterHost host = TRY(CounterHost::open(api, chip, {}));
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
  CuptiApi api;
  DriverApi driver;
  CUcontext context = nullptr;
  std::string chip;
  Set standard;
  std::optional<Set> detail;
  std::optional<CounterSession> profiler;  // of the standard set, but while the detail set runs
  std::string broken;                      // why the profiler will not be tried again

  Result<void> open_profiler();
  Result<void> plan_detail();
  Result<std::vector<CounterValue>> count_standard(const CountRequest& request);
  Result<std::vector<CounterValue>> count_detail(const CountRequest& request);
};

Result<void> Counters::Session::open_profiler() {
  profiler.emplace(TRY(CounterSession::open(api, driver, context, standard.plan)));
  profiler->arm();
  return {};
}

Result<void> Counters::Session::plan_detail() {
  if (!detail) detail.emplace(TRY(plan_set(api, chip, CounterSet::detail)));
  return {};
}

Result<std::vector<CounterValue>> values_of(const Set& set,
                                            std::span<const std::uint8_t> counter_data) {
  const std::vector<double> numbers = TRY(set.host.evaluate(set.plan, counter_data));
  std::vector<CounterValue> values;
  for (std::size_t i = 0; i < numbers.size(); ++i) values.push_back({set.plan.rows[i], numbers[i]});
  return values;
}

Result<std::vector<CounterValue>> Counters::Session::count_standard(const CountRequest& request) {
  // After a failure in the middle of a pass the profiler is made anew.
  if (!profiler) TRY(open_profiler());
  const auto counted = profiler->run(request);
  if (!counted) {
    profiler.reset();
    return counted.error();
  }
  profiler->arm();
  return values_of(standard, *counted);
}

Result<std::vector<CounterValue>> Counters::Session::count_detail(const CountRequest& request) {
  profiler.reset();
  CounterSession session = TRY(CounterSession::open(api, driver, context, detail->plan));
  return values_of(*detail, TRY(session.run(request)));
}

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

  const auto opened = [&]() -> Result<std::unique_ptr<Session>> {
    const std::string chip = TRY(chip_name(api, device));
    TRY(check_supported(api, device));
    Set standard = TRY(plan_set(api, chip, CounterSet::standard));
    TRY(check_standard(chip, standard.plan));
    auto session = std::make_unique<Session>(
        Session{api, driver, context, chip, std::move(standard), std::nullopt, std::nullopt});
    TRY(session->open_profiler());
    return session;
  };
  auto session = opened();
  if (!session) return with_remedy(session.error());
  return Counters(std::move(session).value());
}

void Counters::settle() {
  if (session_->profiler) session_->profiler->settle();
}

Result<Counts> Counters::count(const CountRequest& request) {
  // What fails in the launch is the caller's error; what fails in the profiler is a reason.
  std::optional<Error> launch_error;
  const auto watched = [&](const std::function<Result<void>()>& work) {
    return [&]() -> Result<void> {
      Result<void> done = work ? work() : Result<void>();
      if (done) done = wait(session_->driver);
      if (!done) launch_error = done.error();
      return done;
    };
  };
  const CountRequest watched_request{.launch = watched(request.launch),
                                     .before = watched(request.before)};
  if (request.detail) {
    TRY(session_->plan_detail());
    if (!request.repeatable) {
      return fail(ErrorKind::config, "the detail counters launch the kernel ",
                  session_->detail->plan.passes,
                  " more times, which the collectives of a gang do not allow");
    }
  }
  if (!session_->broken.empty()) return no_counts(session_->broken);
  auto values = session_->count_standard(watched_request);
  if (launch_error) return *launch_error;
  if (!values) {
    session_->broken = with_remedy(values.error()).message;
    return no_counts(session_->broken);
  }
  std::vector<CounterRow> missing = session_->standard.plan.missing;
  if (!request.detail) return counts_from(session_->chip, *values, missing);

  const auto more = session_->count_detail(watched_request);
  if (launch_error) return *launch_error;
  if (!more) {
    Counts counts = counts_from(session_->chip, *values, missing);
    counts.reason += "; no detail: " + with_remedy(more.error()).message;
    return counts;
  }
  values->insert(values->end(), more->begin(), more->end());
  const std::vector<CounterRow>& absent = session_->detail->plan.missing;
  missing.insert(missing.end(), absent.begin(), absent.end());
  return counts_from(session_->chip, *values, missing);
}

}  // namespace headsplit::agent
