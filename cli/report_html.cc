#include "cli/report_html.h"

#include "cli/report_tables.h"
#include "core/markup.h"

namespace headsplit::cli {
namespace {

std::string line_html(const std::vector<std::string>& cells, const char* tag) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) {
    text += str("<", tag, ">", markup_text(cell), "</", tag, ">");
  }
  return text + "</tr>\n";
}

std::string table_html(const ReportTable& table) {
  std::string text = str("<details", table.lines.size() <= 16 ? " open" : "", "><summary>",
                         markup_text(table.title), " (", table.lines.size(), ")</summary>\n");
  if (!table.note.empty()) text += "<p>" + markup_text(table.note) + "</p>\n";
  text +=
      "<div class=\"scroll\"><table><thead>" + line_html(table.heading, "th") + "</thead><tbody>\n";
  for (const auto& line : table.lines) text += line_html(line, "td");
  return text + "</tbody></table></div></details>\n";
}

}  // namespace

std::string summary_html(const Report& report) {
  std::string text = "<section id=\"summary\"><h2>Summary</h2><div class=\"body\">\n";
  for (const ReportTable& table : summary_tables(report)) text += table_html(table);
  return text +
         "<p>A row again: <code>headsplit reproduce ROW --db FILE</code> prints the command.</p>\n"
         "</div></section>\n";
}

}  // namespace headsplit::cli
