#include "agent/counters.h"

namespace headsplit::agent {

struct Counters::Session {};

Counters::Counters(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Counters::Counters(Counters&&) noexcept = default;
Counters& Counters::operator=(Counters&&) noexcept = default;
Counters::~Counters() = default;

Result<Counters> Counters::open() {
  return fail(ErrorKind::config, "this build has no CUDA, so it has no hardware counters");
}

void Counters::settle() {}

Result<Counts> Counters::count(const CountRequest&) {
  return no_counts("this build has no CUDA, so it has no hardware counters");
}

}  // namespace headsplit::agent
