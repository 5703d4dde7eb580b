#include "bench/swept_rows.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/child_process.h"

namespace headsplit {
namespace {

/// Gone with its owner.
class Folder {
 public:
  static Result<Folder> make() {
    std::string path = (std::filesystem::temp_directory_path() / "headsplit-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) return fail(ErrorKind::io, "no folder ", path);
    return Folder(path);
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace

Result<std::vector<Row>> swept_rows(const std::string& sweep,
                                    const std::vector<std::string>& options) {
  const Folder folder = TRY(Folder::make());
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
