#include "cli/crossover_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "cli/model_options.h"

namespace headsplit::cli {
namespace {

using coordinator::FormTimes;
using Lines = std::vector<const ComparedCrossover*>;

constexpr double kPanelWidth = 400;
constexpr double kPanelHeight = 250;
constexpr double kLeft = 50;    ///< room for the marks of the upward axis
constexpr double kTop = 40;     ///< for the title
constexpr double kRight = 60;   ///< for the names of the curves
constexpr double kBottom = 30;  ///< for the marks across
/// Colours that are told apart with every kind of colour vision (Okabe and Ito).
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

struct Form {
  const char* title;
  std::optional<double> FormTimes::*time_us;
  std::optional<std::int64_t> ComparedCrossover::*roofline;
  bool has_flops_switch;
};
constexpr Form kForms[] = {
    {"kept expanded", &FormTimes::kept_us, &ComparedCrossover::kept_roofline_query_tokens, false},
    {"expanded anew", &FormTimes::anew_us, &ComparedCrossover::anew_roofline_query_tokens, true}};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    safe += byte == '<'   ? "&lt;"
            : byte == '>' ? "&gt;"
            : byte == '&' ? "&amp;"
                          : std::string(1, byte);
  }
  return safe;
}

/// What a panel shows, in powers of two.
struct Scale {
  double tokens_most = 1;  ///< log2 of the most query tokens
  double ratio_low = -1;
  double ratio_high = 1;

  double x(double tokens) const {
    const double width = kPanelWidth - kLeft - kRight;
    return kLeft + width * std::log2(tokens) / tokens_most;
  }
  double y(double ratio) const {
    const double height = kPanelHeight - kTop - kBottom;
    return kTop + height * (ratio_high - std::log2(ratio)) / (ratio_high - ratio_low);
  }
};

std::optional<double> ratio_of(const FormTimes& times, const Form& form) {
  if (!times.absorbed_us || !(times.*form.time_us)) return std::nullopt;
  return *(times.*form.time_us) / *times.absorbed_us;
}

Scale scale_of(const Lines& lines) {
  Scale scale;
  for (const ComparedCrossover* line : lines) {
    for (const FormTimes& times : line->times) {
      scale.tokens_most = std::max(scale.tokens_most, std::log2(times.query_tokens));
      for (const Form& form : kForms) {
        const auto ratio = ratio_of(times, form);
        if (!ratio) continue;
        scale.ratio_low = std::min(scale.ratio_low, std::floor(std::log2(*ratio)));
        scale.ratio_high = std::max(scale.ratio_high, std::ceil(std::log2(*ratio)));
      }
    }
  }
  return scale;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return str("<text x=\"", figure(x), "\" y=\"", figure(y), "\" text-anchor=\"", anchor, "\">",
             escaped(text), "</text>\n");
}

std::string line_of(double x1, double y1, double x2, double y2, const std::string& style) {
  return str("<line x1=\"", figure(x1), "\" y1=\"", figure(y1), "\" x2=\"", figure(x2), "\" y2=\"",
             figure(y2), "\" ", style, "/>\n");
}

/// "8", "1/4".
std::string power_text(double power) {
  const std::string text = str(std::lround(std::exp2(std::abs(power))));
  return power < 0 ? "1/" + text : text;
}

std::string axes_of(const Scale& scale) {
  const double right = kPanelWidth - kRight;
  const double bottom = kPanelHeight - kBottom;
  std::string text;
  for (double power = 0; power <= scale.tokens_most; ++power) {
    const double x = scale.x(std::exp2(power));
    text += line_of(x, kTop, x, bottom, "stroke=\"#e5e5e5\"") +
            text_at(x, bottom + 14, "middle", power_text(power));
  }
  const double step = scale.ratio_high - scale.ratio_low > 8 ? 2 : 1;
  for (double power = scale.ratio_low; power <= scale.ratio_high; power += step) {
    text += text_at(kLeft - 6, scale.y(std::exp2(power)) + 4, "end", power_text(power));
  }
  return text + line_of(kLeft, scale.y(1), right, scale.y(1), "stroke=\"#333\"") +
         text_at(kLeft, kPanelHeight - 2, "start", "query tokens");
}

std::string curve_of(const ComparedCrossover& line, const Form& form, const Scale& scale,
                     const char* colour) {
  std::string points;
  double x = 0;
  double y = 0;
  for (const FormTimes& times : line.times) {
    const auto ratio = ratio_of(times, form);
    if (!ratio) continue;
    x = scale.x(times.query_tokens);
    y = scale.y(*ratio);
    points += str(points.empty() ? "" : " ", figure(x), ",", figure(y));
  }
  if (points.empty()) return "";
  return str("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"", colour, "\" points=\"", points,
             "\"/>\n<g fill=\"", colour, "\">", text_at(x + 5, y + 4, "start", str("tp", line.tp)),
             "</g>\n");
}

std::string mark_at(double tokens, const Scale& scale, const char* dashes) {
  if (tokens > std::exp2(scale.tokens_most)) return "";
  const double x = scale.x(tokens);
  return line_of(x, kTop, x, kPanelHeight - kBottom,
                 str("stroke=\"#777\" stroke-dasharray=\"", dashes, "\""));
}

std::string panel_of(const Lines& lines, const Form& form, const Scale& scale) {
  const ComparedCrossover& first = *lines.front();
  std::string text =
      text_at(
          kLeft, 16, "start",
          str(first.model, ", batch ", first.batch, ", ", first.context, " tokens: ", form.title)) +
      text_at(kLeft, 31, "start", "time over that of the absorbed form") + axes_of(scale);
  if (const auto& roofline = first.*form.roofline) text += mark_at(double(*roofline), scale, "6 4");
  if (form.has_flops_switch && first.anew_flops_query_tokens) {
    text += mark_at(*first.anew_flops_query_tokens, scale, "1 4");
  }
  std::size_t colour = 0;
  for (const ComparedCrossover* line : lines) {
    text += curve_of(*line, form, scale, kColours[colour++ % kColours.size()]);
  }
  return text;
}

}  // namespace

std::string crossover_svg(const std::vector<CrossoverGroup>& groups) {
  std::string panels;
  int row = 0;
  for (const CrossoverGroup& group : groups) {
    std::map<std::int64_t, Lines> by_context;
    for (const ComparedCrossover& line : group.lines) {
      if (line.kept || line.anew) by_context[line.context].push_back(&line);
    }
    for (const auto& [context, lines] : by_context) {
      const Scale scale = scale_of(lines);
      for (int column = 0; column < 2; ++column) {
        panels += str("<g transform=\"translate(", column * kPanelWidth, " ", row * kPanelHeight,
                      ")\">\n", panel_of(lines, kForms[column], scale), "</g>\n");
      }
      ++row;
    }
  }
  return str("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", 2 * kPanelWidth, "\" height=\"",
             row * kPanelHeight, "\" font-family=\"sans-serif\" font-size=\"11\">\n",
             "<title>Absorbed against expanded: measured crossovers</title>\n",
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", panels, "</svg>\n");
}

}  // namespace headsplit::cli
