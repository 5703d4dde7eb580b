#include <array>
#include <sstream>

#include "coordinator/erosion.h"
#include "coordinator/export.h"
#include "coordinator/scheduler.h"
#include "coordinator/schema.h"
#include "coordinator/store_tables.h"
#include "tests/fuzz/targets.h"

namespace headsplit::fuzz {
namespace {

using namespace coordinator;

/// Cells that are read back as text with a meaning.
constexpr std::array kCells = {
    "UPDATE sweeps SET content = ?1",
    "UPDATE sweeps SET limits = ?1",
    "UPDATE sweeps SET seed = ?1",
    "UPDATE points SET planned = ?1 WHERE position = 1",
    "UPDATE points SET point_id = ?1 WHERE position = 1",
    "UPDATE attempts SET outcome = ?1",
    "UPDATE rows SET row = ?1",
};

Plan stored_plan() {
  const Sweep sweep = sweep_from_yaml("name: a\ntp: [1, 2]\n", "s.yaml").value();
  return make_plan(sweep, std::nullopt).value();
}

/// A sweep with a row, an attempt that failed and a point that waits.
void fill(StoreTables& tables, const Plan& plan) {
  tables.begin_sweep(std::make_shared<const Plan>(plan), "cpu").value();
  Row row = row_of(plan.points[0].point);
  row.epoch = 1;
  tables.apply(LeaseWrite{plan.id, plan.points[0].id, 1, "a"}).value();
  tables.apply(RowWrite{plan.id, row}).value();
  tables.apply(LeaseWrite{plan.id, plan.points[1].id, 1, "a"}).value();
  tables.apply(AttemptWrite{plan.id, plan.points[1].id, 1, "failed", "why", true, row}).value();
}

/// What is made of rows that were read back: tables and files for people.
void use(const std::string& text) {
  const auto row = value_from_text<Row>(text);
  if (!row) return;
  std::ostringstream out;
  const std::vector<Row> rows = {*row, *row};
  export_rows(out, rows, ExportFormat::csv);
  const auto cells = erosion(rows);
  out << erosion_text(cells);
  for (const std::string& note : erosion_notes(cells)) out << note;
}

}  // namespace

void run_database(std::string_view bytes) {
  if (bytes.empty()) return;
  static const Plan plan = stored_plan();
  Database database = Database::open(":memory:", OpenMode::read_write, 0).value();
  migrate(database, migrations()).value();
  StoreTables tables = StoreTables::open(database).value();
  fill(tables, plan);
  const auto cell = static_cast<unsigned char>(bytes[0]) % kCells.size();
  const std::string text(bytes.substr(1));
  Statement change = database.prepare(kCells.at(cell)).value();
  if (!change.run(text)) return;  // a constraint of the table
  if (cell + 1 == kCells.size()) use(text);
  StoreTables reopened = StoreTables::open(database).value();
  const auto sweeps = reopened.restore();
  if (!sweeps) return;
  Scheduler scheduler;
  const TimePoint now{std::chrono::hours(1)};
  for (const auto& sweep : sweeps->finished) scheduler.step(SweepRecalled{sweep}, now);
  for (const StoredSweep& sweep : sweeps->open) {
    scheduler.step(SweepSubmitted{sweep.plan, sweep.progress, sweep.backend}, now);
  }
  scheduler.step(AgentJoined{1, AgentInfo{.name = "a", .backend = "cpu"}}, now);
}

}  // namespace headsplit::fuzz
