#include "cli/manual.h"

#include <cstdio>

#include "core/version.h"

namespace headsplit::cli {
namespace {

/// Text as roff takes it: no backslash, quote or dot at the start of a line is a command.
std::string escaped(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

void add_entry(std::string& page, const std::string& tag, const std::string& text) {
  page += ".TP\n\\fB" + escaped(tag) + "\\fR\n" + escaped(text) + "\n";
}

std::string tag_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::string tag = option.get_positional() ? option.get_name(true) : option.get_name(false, true);
  for (std::size_t at = 0; (at = tag.find(',', at)) != std::string::npos; at += 2) {
    tag.insert(at + 1, " ");
  }
  if (!type.empty() && option.get_items_expected_max() != 0) tag += " " + type;
  return tag;
}

std::string text_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (!option.get_default_str().empty()) text += " (default: " + option.get_default_str() + ")";
  return text;
}

void add_options(std::string& page, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    add_entry(page, tag_of(*option), text_of(*option));
  }
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  const std::string name = app.get_name();
  std::string page = ".TH " + escaped(name) + " 1 \"\" \"" + name + " " + version + "\"\n";
  page += ".SH NAME\n" + escaped(name) + " \\- " + escaped(app.get_description()) + "\n";
  page += ".SH SYNOPSIS\n.B " + escaped(name) + "\n\\fIVERB\\fR [\\fIOPTION\\fR]...\n";
  if (!app.get_footer().empty()) page += ".PP\n" + escaped(app.get_footer()) + "\n";
  page += ".SH OPTIONS\n";
  add_options(page, app);
  page += ".SH VERBS\n";
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    page += ".SS " + escaped(name + " " + verb->get_name()) + "\n" +
            escaped(verb->get_description()) + "\n";
    add_options(page, *verb);
    if (!verb->get_footer().empty()) page += ".PP\n" + escaped(verb->get_footer()) + "\n";
  }
  page +=
      ".SH EXIT STATUS\n0 ok, 1 failed or refuted, 2 usage or cannot tell, 3 interrupted and "
      "resumable.\n";
  return page;
}

void add_manual(CLI::App& app, Outcome&) {
  CLI::App* verb = app.add_subcommand("manual", "Print this program's manual page (roff)");
  verb->footer("Example: headsplit manual | man -l -");
  verb->callback([&app] { std::fputs(manual_page(app, version()).c_str(), stdout); });
}

}  // namespace headsplit::cli
