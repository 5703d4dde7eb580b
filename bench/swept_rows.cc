#include "bench/swept_rows.h"

#include <filesystem>
#include <fstream>

#include "bench/scratch_folder.h"
#include "core/child_process.h"

namespace headsplit {
Result<std::vector<Row>> swept_rows(const std::string& sweep,
                                    const std::vector<std::string>& options) {
  const ScratchFolder folder = TRY(ScratchFolder::make());
  std::ofstream(folder / "sweep.yaml") << sweep;
  const std::string out = folder / "out";
  std::vector<std::string> argv = {sibling_program("headsplit"),
                                   "run",
                                   folder / "sweep.yaml",
                                   "--db",
                                   folder / "rows.db",
                                   "--out",
                                   out,
                                   "--backend",
                                   "cpu",
                                   "--json"};
  argv.insert(argv.end(), options.begin(), options.end());
  auto run = TRY(
      ChildProcess::start({.argv = argv, .pipe_stdout = true, .stderr_file = folder / "stderr"}));
  const auto ending = run.wait(std::chrono::seconds(120));
  if (ending != "exit 0") {
    return fail(ErrorKind::io, "headsplit run: ", ending.value_or("too slow"));
  }
  std::vector<Row> rows;
  for (const auto& file : std::filesystem::directory_iterator(out)) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) rows.push_back(TRY(value_from_text<Row>(line)));
  }
  if (rows.empty()) return fail(ErrorKind::io, "headsplit run: no rows");
  return rows;
}

}  // namespace headsplit
