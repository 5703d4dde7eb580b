#include "coordinator/web/script.h"

#include <regex>
#include <set>
#include <vector>

#include "coordinator/web/asset.h"

namespace headsplit::coordinator {
namespace {

const std::regex& import_statement() {
  static const std::regex pattern(R"re((^|\n)import\s*\{([^}]*)\}\s*from\s*"\./([^"]+)";)re");
  return pattern;
}

const std::regex& export_statement() {
  static const std::regex pattern(
      R"((^|\n)export ((?:async )?function\*?|class|const) ([A-Za-z_$][\w$]*))");
  return pattern;
}

/// Links modules depth first, so that each comes after those it imports.
class Linker {
 public:
  Result<void> add(const std::string& path) {
    if (done_.contains(path)) return {};
    if (!open_.insert(path).second) return fail(ErrorKind::config, path, ": imports itself");
    const Asset* asset = find_asset(path);
    if (asset == nullptr) return fail(ErrorKind::config, path, ": no such module");
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const std::string text(asset->content);
    for (std::sregex_iterator at(text.begin(), text.end(), import_statement()), end; at != end;
         ++at) {
      if (auto added = add(folder + (*at)[3].str()); !added) return added;
    }
    TRY(append(path, folder, text));
    done_.insert(path);
    return {};
  }

  std::string script() const { return "\"use strict\";\nconst modules = {};\n" + script_; }

 private:
  Result<void> append(const std::string& path, const std::string& folder, const std::string& text) {
    std::string names;
    for (std::sregex_iterator at(text.begin(), text.end(), export_statement()), end; at != end;
         ++at) {
      names += (names.empty() ? "" : ", ") + (*at)[3].str();
    }
    std::string body = std::regex_replace(text, import_statement(),
                                          "$1const {$2} = modules[\"" + folder + "$3\"];");
    body = std::regex_replace(body, export_statement(), "$1$2 $3");
    static const std::regex left_over(R"((^|\n)(import|export)\b)");
    if (std::regex_search(body, left_over)) {
      return fail(ErrorKind::config, path, ": an import or export of another form");
    }
    script_ +=
        "modules[\"" + path + "\"] = (() => {\n" + body + "return { " + names + " };\n})();\n";
    return {};
  }

  std::set<std::string> open_;
  std::set<std::string> done_;
  std::string script_;
};

}  // namespace

Result<std::string> linked_script(std::string_view entry) {
  Linker linker;
  TRY(linker.add(std::string(entry)));
  return linker.script();
}

}  // namespace headsplit::coordinator
