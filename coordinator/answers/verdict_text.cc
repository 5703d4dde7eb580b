#include <algorithm>

#include "coordinator/answers/verdict.h"

namespace headsplit::coordinator {
namespace {

std::string figure_text(const Verdict& verdict) {
  return verdict.figure ? number_text(*verdict.figure) : "-";
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string count_line(std::span<const Verdict> verdicts) {
  const auto count = [&](Ruling ruling) {
    return std::count_if(verdicts.begin(), verdicts.end(),
                         [&](const Verdict& verdict) { return verdict.verdict == ruling; });
  };
  return str(verdicts.size(), " claims: ", count(Ruling::confirmed), " confirmed, ",
             count(Ruling::refuted), " refuted, ", count(Ruling::not_judged), " not judged\n");
}

/// What markdown or HTML would read, as itself.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '<') {
      safe += "&lt;";
    } else if (byte == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\`*_|").find(byte) != std::string_view::npos) safe += '\\';
      safe += byte == '\n' ? ' ' : byte;
    }
  }
  return safe;
}

std::string words_of(Ruling ruling) {
  return ruling == Ruling::not_judged ? "not judged" : enum_name(ruling);
}

}  // namespace

std::string verdict_text(std::span<const Verdict> verdicts) {
  std::size_t width = 0;
  for (const Verdict& verdict : verdicts) width = std::max(width, verdict.id.size());
  std::string text;
  for (const Ruling ruling : {Ruling::confirmed, Ruling::refuted, Ruling::not_judged}) {
    for (const Verdict& verdict : verdicts) {
      if (verdict.verdict != ruling) continue;
      text += padded(words_of(ruling), 12) + padded(verdict.id, width + 2);
      if (ruling == Ruling::not_judged) {
        text += verdict.sentence + "\n";
      } else {
        text += verdict.statement + "\n" + std::string(width + 14, ' ') + verdict.sentence + "\n";
      }
    }
  }
  return text + count_line(verdicts);
}

std::string verdict_markdown(std::span<const Verdict> verdicts) {
  std::string text =
      "| claim | source | statement | verdict | figure | what the rows say |\n"
      "|---|---|---|---|--:|---|\n";
  for (const Verdict& verdict : verdicts) {
    const std::string cells[] = {escaped(verdict.id),        escaped(verdict.source),
                                 escaped(verdict.statement), words_of(verdict.verdict),
                                 figure_text(verdict),       escaped(verdict.sentence)};
    text += "|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    text += "\n";
  }
  return text + "\n" + count_line(verdicts);
}

}  // namespace headsplit::coordinator
