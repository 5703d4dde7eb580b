#include "coordinator/rate.h"

namespace headsplit::coordinator {
namespace {

constexpr std::size_t kEventsMax = 64;

}  // namespace

void RateMeter::count(TimePoint when) {
  latest_.push_back(when);
  if (latest_.size() > kEventsMax) latest_.pop_front();
}

double RateMeter::per_s(TimePoint now) const {
  if (latest_.size() < 2) return 0;
  const std::chrono::duration<double> span = now - latest_.front();
  return span.count() > 0 ? static_cast<double>(latest_.size() - 1) / span.count() : 0;
}

bool Allowance::take(TimePoint now) {
  const double passed_s = std::chrono::duration<double>(now - filled_).count();
  left_ = std::min(burst_, left_ + passed_s * per_s_);
  filled_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

}  // namespace headsplit::coordinator
