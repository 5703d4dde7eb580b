#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/cluster.h"
#include "tests/e2e/relay.h"
#include "tests/e2e/system_faults.h"

namespace headsplit::e2e {

/// A sweep on real processes while things break, one after another, as drawn from a seed; then
/// everything is mended, the sweep must end, and what the promises say is checked.
class ChaosRound {
 public:
  ChaosRound(std::uint64_t seed, const std::string& faults_file);
  ~ChaosRound();

  /// What was broken, if anything: "P1: ...".  One line each.
  std::vector<std::string> run();
  /// The faults, in order.
  const std::vector<std::string>& faults() const { return done_; }

  static std::vector<std::string> fault_names();

 private:
  struct Fault {
    const char* name;
    void (ChaosRound::*apply)();
  };
  static const std::vector<Fault>& all_faults();

  // Faults.
  void kill_coordinator();
  void end_coordinator();
  void stop_coordinator();
  void kill_agent();
  void kill_worker();
  void stop_agent();
  void stop_worker();
  void fill_disk();
  void make_disk_read_only();
  void slow_disk();
  void fill_disk_of_agent();
  void jump_clock();
  void freeze_network();
  void cut_network();
  void flood();

  void pause_ms(int least, int most);
  std::size_t below(std::size_t count) { return random_() % count; }
  std::string some_agent();
  /// Starts what has ended, and mends the disk where that is why.
  void keep_alive();
  void restart_coordinator();
  void look_at_rows();
  void break_something();
  void mend();
  void check(std::vector<std::string>& broken);

  std::mt19937_64 random_;
  SystemFaults* system_ = nullptr;
  Cluster cluster_;
  std::unique_ptr<Relay> relay_;
  std::map<std::string, Command*> agents_;
  std::string sweep_;
  std::map<std::string, Row> seen_;  ///< rows that a client was shown
  std::vector<std::string> done_;
  std::vector<std::string> broken_;
};

/// A coordinator on a slow disk, and strangers who send rows as fast as they can.
class Flood {
 public:
  explicit Flood(const std::string& faults_file);
  ~Flood();
  /// Gives the rows that were sent.
  std::int64_t run(std::chrono::seconds duration);
  pid_t coordinator() { return cluster_.coordinator().child().pid(); }
  bool served() const;

 private:
  SystemFaults* system_;
  Cluster cluster_;
};

}  // namespace headsplit::e2e
