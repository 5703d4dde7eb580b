/// `web_rows_to_db FILE NAME [STORED] < rows.jsonl`: a database with one sweep of these rows, the
/// first STORED of them done.  For tests of the page only: the rows are made, not measured.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <span>

#include "coordinator/plan.h"
#include "coordinator/store.h"

namespace headsplit::coordinator {
namespace {

Result<std::vector<Row>> rows_from(std::istream& in) {
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    rows.push_back(TRY(value_from_text<Row>(line)));
  }
  return rows;
}

Plan plan_of(const std::vector<Row>& rows, const std::string& name) {
  Plan plan;
  plan.name = name;
  plan.id = content_id(name);
  plan.content = "{}";
  for (const Row& row : rows) {
    PlannedPoint planned;
    planned.id = row.point_id;
    planned.point.kernel = row.kernel;
    planned.point.layout = {row.tp, row.dp, row.cp};
    planned.point.batch = row.batch;
    planned.point.query_tokens = row.query_tokens;
    planned.point.context = row.context;
    planned.point.kv_dtype = row.kv_dtype;
    planned.point.repeat = row.repeat;
    plan.points.push_back(planned);
  }
  return plan;
}

template <class T>
Result<T> waited(std::future<Result<T>> future) {
  return future.get();
}

Result<void> store_rows(Store& store, const std::string& sweep, std::span<const Row> rows) {
  std::vector<std::future<Result<void>>> stored;
  for (const Row& row : rows) {
    const auto promise = std::make_shared<std::promise<Result<void>>>();
    stored.push_back(promise->get_future());
    store.write(LeaseWrite{sweep, row.point_id, row.epoch, row.agent}, [](Result<void>) {});
    store.write(RowWrite{sweep, row}, [promise](Result<void> done) { promise->set_value(done); });
  }
  for (auto& one : stored) TRY(waited(std::move(one)));
  return {};
}

/// stored_most: rows after these are points that still wait.
Result<void> make_database(const std::string& path, const std::string& name,
                           std::size_t stored_most) {
  const std::vector<Row> rows = TRY(rows_from(std::cin));
  const std::unique_ptr<Store> store = TRY(Store::open(path));
  Plan plan = plan_of(rows, name);
  const std::string id = plan.id;
  std::promise<Result<StoredSweep>> begun;
  store->begin_sweep(std::move(plan), "",
                     [&](Result<StoredSweep> sweep) { begun.set_value(std::move(sweep)); });
  TRY(waited(begun.get_future()));
  const std::span<const Row> all(rows);
  return store_rows(*store, id, all.first(std::min(rows.size(), stored_most)));
}

}  // namespace
}  // namespace headsplit::coordinator

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: web_rows_to_db FILE NAME [STORED] < rows.jsonl\n");
    return 2;
  }
  const std::size_t stored_most = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : SIZE_MAX;
  const auto made = headsplit::coordinator::make_database(argv[1], argv[2], stored_most);
  if (made) return 0;
  std::fprintf(stderr, "web_rows_to_db: %s\n", made.error().message.c_str());
  return 1;
}
