#include <filesystem>
#include <map>

#include "coordinator/database_file.h"
#include "coordinator/schema.h"
#include "coordinator/store.h"

namespace headsplit::coordinator {
namespace {

constexpr int kReadBusyTimeoutMs = 10'000;

constexpr const char* kRows =
    "SELECT row, rows.run < ?2 FROM points CROSS JOIN rows USING (point) "
    "WHERE points.sweep = ?1 AND (?3 = '' OR status = ?3) AND (?4 = '' OR kernel = ?4) "
    "AND (?5 = '' OR layout = ?5) AND (?6 = '' OR points.point_id = ?6) ORDER BY position";

constexpr const char* kSweepsOfRows =
    "SELECT sweep, run FROM sweeps WHERE ?1 = '' OR id = ?1 OR name = ?1 ORDER BY sweep";

constexpr const char* kSweeps =
    "SELECT id, name, backend, run, created_unix_s, sweep FROM sweeps ORDER BY sweep";

constexpr const char* kStatusCounts =
    "SELECT sweep, status, count(*) FROM progress GROUP BY sweep, status";

constexpr const char* kPoints =
    "SELECT point_id, label, state, epoch, status, "
    "(SELECT count(*) FROM attempts WHERE attempts.point = points.point AND counts = 1) "
    "FROM points JOIN progress USING (point) JOIN sweeps ON sweeps.sweep = points.sweep "
    "WHERE sweeps.id = ?1 ORDER BY position";

void add_count(SweepSummary& sweep, Status status, std::int64_t count) {
  switch (status) {
    case Status::ok: sweep.ok += count; break;
    case Status::failed: sweep.failed += count; break;
    case Status::skipped: sweep.skipped += count; break;
    case Status::cancelled: sweep.cancelled += count; break;
  }
}

}  // namespace

class StoreReader::Connection {
 public:
  explicit Connection(Database database) : database_(std::move(database)) {}
  Database& database() { return database_; }

 private:
  Database database_;
};

StoreReader::StoreReader(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
StoreReader::~StoreReader() = default;

Result<std::unique_ptr<StoreReader>> StoreReader::open(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return fail(ErrorKind::io, path, ": there is no such database");
  }
  TRY(check_header(path));
  Database database = TRY(Database::open(path, OpenMode::read_only, kReadBusyTimeoutMs));
  TRY(check_identity(database, false));
  auto connection = std::make_unique<Connection>(std::move(database));
  return std::unique_ptr<StoreReader>(new StoreReader(std::move(connection)));
}

Result<std::vector<Row>> StoreReader::rows(const RowFilter& filter) {
  Statement sweeps = TRY(connection_->database().prepare(kSweepsOfRows));
  Statement select = TRY(connection_->database().prepare(kRows));
  const std::string status = filter.status ? enum_name(*filter.status) : std::string();
  std::vector<Row> rows;
  TRY(sweeps.start(filter.sweep));
  while (TRY(sweeps.next())) {
    TRY(select.start(sweeps.integer(0), sweeps.integer(1), status, filter.kernel, filter.layout,
                     filter.point_id));
    while (TRY(select.next())) {
      rows.push_back(TRY(value_from_text<Row>(select.text(0))));
      rows.back().resumed = select.integer(1) != 0;
    }
  }
  return rows;
}

Result<std::vector<SweepSummary>> StoreReader::sweeps() {
  std::vector<SweepSummary> sweeps;
  std::map<std::int64_t, std::size_t> index_of;
  Statement select = TRY(connection_->database().prepare(kSweeps));
  TRY(select.start());
  while (TRY(select.next())) {
    index_of[select.integer(5)] = sweeps.size();
    sweeps.push_back({.id = select.text(0),
                      .name = select.text(1),
                      .backend = select.text(2),
                      .run = static_cast<int>(select.integer(3)),
                      .created_unix_s = select.real(4)});
  }
  Statement counts = TRY(connection_->database().prepare(kStatusCounts));
  TRY(counts.start());
  while (TRY(counts.next())) {
    const auto sweep = index_of.find(counts.integer(0));
    if (sweep == index_of.end()) continue;  // begun between the two selects
    const std::int64_t count = counts.integer(2);
    sweeps[sweep->second].points += count;
    if (counts.is_null(1)) continue;  // open points
    add_count(sweeps[sweep->second], TRY(enum_from_name<Status>(counts.text(1))), count);
  }
  return sweeps;
}

Result<std::optional<std::string>> StoreReader::content(const std::string& sweep) {
  Statement select =
      TRY(connection_->database().prepare("SELECT content FROM sweeps WHERE id = ?1"));
  TRY(select.start(sweep));
  if (!TRY(select.next())) return std::optional<std::string>();
  return std::optional<std::string>(select.text(0));
}

Result<std::vector<PointSummary>> StoreReader::points(const std::string& sweep) {
  Statement select = TRY(connection_->database().prepare(kPoints));
  TRY(select.start(sweep));
  std::vector<PointSummary> points;
  while (TRY(select.next())) {
    const auto state = TRY(enum_from_name<PointState>(select.text(2)));
    PointSummary point{.id = select.text(0),
                       .label = select.text(1),
                       .state = state,
                       .epoch = select.integer(3),
                       .attempts = static_cast<int>(select.integer(5))};
    if (!select.is_null(4)) point.status = TRY(enum_from_name<Status>(select.text(4)));
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace headsplit::coordinator
