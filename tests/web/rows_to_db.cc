/// `web_rows_to_db FILE NAME < rows.jsonl`: a database with one finished sweep of these rows.  For
/// tests of the page only: the rows are made, not measured.

#include <cstdio>
#include <future>
#include <iostream>

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

Result<void> store_rows(Store& store, const std::string& sweep, const std::vector<Row>& rows) {
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

Result<void> make_database(const std::string& path, const std::string& name) {
  const std::vector<Row> rows = TRY(rows_from(std::cin));
  const std::unique_ptr<Store> store = TRY(Store::open(path));
  Plan plan = plan_of(rows, name);
  const std::string id = plan.id;
  std::promise<Result<StoredSweep>> begun;
  store->begin_sweep(std::move(plan), "",
                     [&](Result<StoredSweep> sweep) { begun.set_value(std::move(sweep)); });
  TRY(waited(begun.get_future()));
  return store_rows(*store, id, rows);
}

}  // namespace
}  // namespace headsplit::coordinator

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: web_rows_to_db FILE NAME < rows.jsonl\n");
    return 2;
  }
  const auto made = headsplit::coordinator::make_database(argv[1], argv[2]);
  if (made) return 0;
  std::fprintf(stderr, "web_rows_to_db: %s\n", made.error().message.c_str());
  return 1;
}
