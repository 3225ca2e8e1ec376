// SPDX-License-Identifier: Apache-2.0
#include "report/pgfplots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/area.hpp"
#include "report/axis.hpp"
#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/palette.hpp"
#include "report/panels.hpp"
#include "report/roofline_drawing.hpp"
#include "report/svg_canvas.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr double kAxisWidthPt = 420;
constexpr const char* kMarks[] = {"*", "square*", "triangle*", "diamond*"};

std::string number(double value) { return fmt::format("{:.10g}", value); }

std::string axis_label(const Axis& axis) { return escape_latex(axis_heading(axis)); }

// Ticks are computed here, so that SVG and pgfplots show the same ones.
std::string tick_options(char axis, const std::vector<Tick>& ticks, std::size_t stride = 1) {
  std::vector<std::string> positions;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    positions.push_back(number(ticks[i].value));
    labels.push_back(i % stride == 0 ? "{" + escape_latex(ticks[i].label) + "}" : "{}");
  }
  return fmt::format("  {0}tick={{{1}}}, {0}ticklabels={{{2}}},\n", axis, join(positions, ","), join(labels, ","));
}

double slot_pt(const Chart& chart, double width_pt) {
  return width_pt / static_cast<double>(std::max<std::size_t>(1, chart.categories.size()));
}

std::string category_options(const Chart& chart, double width_pt) {
  const double count = static_cast<double>(chart.categories.size());
  double widest = 0;
  std::vector<Tick> ticks;
  const auto every = std::max<std::size_t>(1, static_cast<std::size_t>(11 / slot_pt(chart, width_pt)));
  for (std::size_t i = 0; i < chart.categories.size(); i += every) {
    const std::string label = shortened(printable(chart.categories[i]), kMaxLabelLength);
    widest = std::max(widest, text_width(label, 9));
    ticks.push_back({static_cast<double>(i), label});
  }
  std::string out =
      fmt::format("  xmin=-0.5, xmax={}, xtick pos=bottom, xtick style={{draw=none}},\n", number(count - 0.5)) +
      tick_options('x', ticks);
  if (widest > slot_pt(chart, width_pt) - 6)
    out += "  xticklabel style={rotate=35, anchor=north east, inner sep=1pt},\n";
  return out;
}

std::string point_options(const Chart& chart, std::size_t stride = 1) {
  const ScaledAxis axis = point_axis(chart);
  std::string out = tick_options('x', axis.ticks, stride);
  if (axis.scale == Scale::kLog) out += "  xmode=log, log ticks with fixed point,\n";
  return out + (chart.kind == ChartKind::kArea ? "  enlarge x limits=false,\n" : "  enlarge x limits=0.03,\n");
}

std::string kind_options(const Chart& chart, double width_pt) {
  switch (chart.kind) {
    case ChartKind::kBar: {
      if (chart.stacked)
        return fmt::format("  ybar stacked, bar width={:.2f}pt,\n",
                           std::max(0.3, std::min(slot_pt(chart, width_pt) * 0.62, 60.0)));
      const double width = std::min(
          slot_pt(chart, width_pt) * 0.78 / static_cast<double>(std::max<std::size_t>(1, chart.series.size())), 40.0);
      return fmt::format("  ybar={:.2f}pt, bar width={:.2f}pt,\n", width > 4 ? 0.8 : 0.0,
                         std::max(0.3, width - (width > 4 ? 0.8 : 0)));
    }
    case ChartKind::kArea:
      return chart.bands.empty() ? "" : "  clip=false, legend style={yshift=9pt},\n";
    case ChartKind::kLine:
    case ChartKind::kTimeline:
    case ChartKind::kRoofline:
      break;
  }
  return "";
}

std::string value_options(const Chart& chart) {
  const ScaledAxis axis = value_axis(chart);
  std::string out =
      fmt::format("  ymin={}, ymax={},\n", number(axis.low), number(axis.high)) + tick_options('y', axis.ticks);
  if (axis.scale == Scale::kLog) out += "  ymode=log, log origin=infty,\n";
  return out;
}

std::string plot_style(const Chart& chart, std::size_t s) {
  const std::size_t index = colour_of(chart, s);
  const std::string colour = chart.kind == ChartKind::kLine ? colour_name(index % kLineColours) : colour_name(index);
  switch (chart.kind) {
    case ChartKind::kBar:
      return fmt::format("fill={0}, draw={0}, line width=0pt", colour);
    case ChartKind::kArea:
      return fmt::format("fill={0}, draw=none, fill opacity=0.85", colour);
    case ChartKind::kLine:
    case ChartKind::kTimeline:
    case ChartKind::kRoofline:
      break;
  }
  // A plot without a legend entry must not consume the entry of the reference line.
  const bool nameless = chart.reference_line && chart.series.size() < 2;
  return fmt::format("{}, thick, mark={}, mark size=1.8pt, mark options={{solid}}{}{}", colour,
                     kMarks[index % kMarkerShapes], index >= kLineColours ? ", dashed" : "",
                     nameless ? ", forget plot" : "");
}

std::string area(const Chart& chart, std::size_t s) {
  std::string out = "\\addplot[" + plot_style(chart, s) + "] coordinates {";
  for (const auto& [x, y] : area_corners(chart, s)) out += fmt::format(" ({},{})", number(x), number(y));
  return out + "} -- cycle;\n";
}

// Drawn behind the areas: every second band is shaded; its label is above the plot if it fits.
std::string bands(const Chart& chart) {
  const ScaledAxis y = value_axis(chart);
  std::string out;
  for (std::size_t i = 0; i < chart.bands.size(); ++i) {
    const Band& band = chart.bands[i];
    const std::string from = number(band.start);
    const std::string to = number(band.end);
    if (i % 2 == 0) {
      out += fmt::format("\\fill[black!5] (axis cs:{},{}) rectangle (axis cs:{},{});\n", from, number(y.low), to,
                         number(y.high));
    }
    out += fmt::format("\\draw[black!25, line width=0.3pt] (axis cs:{0},{1}) -- (axis cs:{0},{2});\n", from,
                       number(y.low), number(y.high));
    if (band.label.empty()) continue;
    out += fmt::format(
        "\\node[anchor=south, font=\\scriptsize, text=black!70, inner sep=2pt] at (axis cs:{},{}) {{{}}};\n",
        number((band.start + band.end) / 2), number(y.high), escape_latex(band.label));
  }
  return out;
}

// Stacked plots need a value at every position; missing values are 0.
std::string stacked_plot(const Chart& chart, std::size_t s) {
  std::vector<double> figures(chart.categories.size(), 0);
  for (const Point& point : chart.series[s].points) figures.at(static_cast<std::size_t>(point.x)) = point.y.value_or(0);
  std::string out = "\\addplot[" + plot_style(chart, s) + "] coordinates {";
  for (std::size_t i = 0; i < figures.size(); ++i) out += fmt::format(" ({},{})", i, number(figures[i]));
  return out + "};\n";
}

constexpr const char* kReferenceLineStyle = "black!80, dash pattern=on 4pt off 3pt, line width=0.8pt";

// Spans the plot. Uses the x of a point because a logarithmic axis has no zero.
std::string reference_line(const Chart& chart) {
  if (!chart.reference_line) return "";
  const auto named =
      std::find_if(chart.series.begin(), chart.series.end(), [](const Series& each) { return !each.points.empty(); });
  const std::string index =
      fmt::format("{{axis cs:{},{}}}", number(named == chart.series.end() ? 1 : named->points[0].x),
                  number(chart.reference_line->value));
  return fmt::format("\\draw[{0}] ({{rel axis cs:0,0}} |- {1}) -- ({{rel axis cs:1,0}} |- {1});\n", kReferenceLineStyle,
                     index);
}

std::string reference_line_entry(const Chart& chart) {
  if (!chart.reference_line) return "";
  return fmt::format("\\addlegendimage{{no markers, {}}}\n\\addlegendentry{{{}}}\n", kReferenceLineStyle,
                     escape_latex(reference_line_label(chart)));
}

// `low` is the lower end of the value axis; an error bar below it would have no logarithm.
std::string plot(const Chart& chart, std::size_t s, double low) {
  if (chart.stacked) return stacked_plot(chart, s);
  const bool has_errors = std::any_of(chart.series[s].points.begin(), chart.series[s].points.end(),
                                      [](const Point& p) { return p.error.has_value(); });
  std::string out = "\\addplot[" + plot_style(chart, s);
  if (has_errors)
    out +=
        ", error bars/.cd, y dir=both, y explicit, error bar style={black!75, line width=0.6pt}, error mark "
        "options={rotate=90, mark "
        "size=1.8pt, black!75}";
  out += "] coordinates {";
  for (const Point& point : chart.series[s].points) {
    out += fmt::format(" ({},{})", number(point.x), point.y ? number(*point.y) : "nan");
    if (has_errors) {
      const double error = point.error.value_or(0);
      out += fmt::format(" += (0,{}) -= (0,{})", number(error),
                         number(std::clamp(error, 0.0, std::max(0.0, point.y.value_or(0) - low))));
    }
  }
  return out + "};\n";
}

// A case without a value keeps its position on the axis; its status is printed there vertically.
std::string states(const Chart& chart, double low, double width_pt) {
  if (chart.kind != ChartKind::kBar) return "";
  const double width = std::min(slot_pt(chart, width_pt) * 0.78 / static_cast<double>(chart.series.size()), 40.0);
  std::string out;
  for (const StateLabel& label : state_labels(chart)) {
    out += fmt::format(
        "\\node[rotate=90, anchor=west, font=\\tiny, text=black!65, xshift=1pt] at ([xshift={:.2f}pt]axis cs:{},{}) "
        "{{{}}};\n",
        label.offset * width, number(label.x), number(low), escape_latex(shortened(printable(label.text), 20)));
  }
  return out;
}

std::string legend_options(const Chart& chart) {
  std::string out;
  std::size_t legend_length = chart.reference_line ? code_point_count(reference_line_label(chart)) + 5 : 0;
  for (const Series& series : chart.series)
    legend_length += std::min(code_point_count(series.name), kMaxLegendLength) + 5;
  constexpr std::size_t kLegendRow = 90;
  if (legend_length > kLegendRow)
    out += ", legend columns=" +
           std::to_string(std::max<std::size_t>(
               1, kLegendRow * (chart.series.size() + (chart.reference_line ? 1 : 0)) / legend_length));
  if (chart.kind != ChartKind::kLine)
    out += ", legend image code/.code={\\draw[#1] (0cm,-0.08cm) rectangle (0.18cm,0.12cm);}";
  return out;
}

// What is drawn within the axes.
std::string contents(const Chart& chart, double low, double width_pt, bool has_legend) {
  std::string out = chart.kind == ChartKind::kArea ? bands(chart) : "";
  out += reference_line(chart);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    out += chart.kind == ChartKind::kArea ? area(chart, s) : plot(chart, s, low);
    if (has_legend && chart.series.size() > 1)
      out += "\\addlegendentry{" + escape_latex(shortened(printable(chart.series[s].name), kMaxLegendLength)) + "}\n";
  }
  return out + states(chart, low, width_pt);
}

std::string value_of_reference_line(const Chart& panel) {
  return fmt::format(
      "\\node[anchor=south east, font=\\tiny, text=black!70, inner sep=1pt] at ({{rel axis cs:1,0}} |- {{axis "
      "cs:{},{}}}) {{{}}};\n",
      number(1), number(panel.reference_line->value), escape_latex(significant_text(panel.reference_line->value, 3)));
}

// Options of the axes, which all panels share.
std::string panel_axes(const Chart& chart, double width) {
  std::string out = value_options(chart) + "  clip=false,\n";
  if (!chart.categories.empty()) return out + category_options(chart, width);
  const ScaledAxis axis = point_axis(chart);
  constexpr double kFootnote = 8;
  return out + point_options(chart, label_stride(axis, width, kFootnote)) +
         fmt::format("  xmin={}, xmax={},\n", number(axis.low), number(axis.high));
}

// Rows of small plots on common axes. The first one has the legend, above all of them.
std::string pgf_panels(const Chart& chart) {
  constexpr double kGap = 20, kRowGap = 24, kHeight = 92, kLabels = 52;
  const PanelGrid grid = panel_grid(chart);
  const auto columns = static_cast<double>(grid.columns);
  const double width = (kAxisWidthPt - kLabels - kGap * (columns - 1)) / columns;
  const double low = value_axis(chart).low;
  std::string out = fmt::format(
      "\\begin{{tikzpicture}}\n\\begin{{groupplot}}[kymo chart, scale only axis, width={:.1f}pt, height={:.1f}pt,\n"
      "  group style={{group size={} by {}, horizontal sep={}pt, vertical sep={}pt}},\n"
      "  title style={{at={{(0,1)}}, anchor=south west, font=\\footnotesize, inner sep=2pt}},\n"
      "  legend style={{at={{(0,1.2)}}, anchor=south west}},\n{}]\n",
      width, kHeight, grid.columns, grid.rows, kGap, kRowGap, panel_axes(chart, width));
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const Chart panel = panel_chart(chart, i);
    const bool leftmost = i % grid.columns == 0, in_the_middle = i / grid.columns == (grid.rows - 1) / 2;
    out += "\\nextgroupplot[" + kind_options(chart, width) + "  title={" +
           escape_latex(shortened(printable(panel.caption), kMaxLegendLength)) + "}";
    if (leftmost && in_the_middle) out += ", ylabel={" + axis_label(chart.y) + "}";
    if (!leftmost) out += ", yticklabels={}";
    out += is_lowest_panel(chart, i) ? ", xlabel={" + axis_label(chart.x) + "}" : ", xticklabels={}";
    out += legend_options(chart) + "]\n" + contents(panel, low, width, i == 0);
    if (i == 0) out += reference_line_entry(chart);
    if (panel.reference_line && has_several_reference_lines(chart)) out += value_of_reference_line(panel);
  }
  return out + "\\end{groupplot}\n\\end{tikzpicture}\n";
}

constexpr double kRooflinePx = 760;
constexpr double kRooflinePtPerPx = 0.6;

std::string line_tikz(const RooflinePicture::Line& line) {
  static constexpr const char* kStyles[] = {"black!12, line width=0.4pt", "black!70, line width=0.4pt",
                                            "black!80, line width=1.1pt", "black!70, line width=0.3pt"};
  return fmt::format("\\draw[{}] ({:.2f},{:.2f}) -- ({:.2f},{:.2f});\n", kStyles[static_cast<int>(line.stroke)],
                     line.x1, line.y1, line.x2, line.y2);
}

std::string circle_tikz(const RooflinePicture::Circle& circle) {
  const std::string colour = colour_name(circle.colour);
  return fmt::format("\\path[draw={0}, line width=0.6pt{1}] ({2:.2f},{3:.2f}) circle[radius={4:.2f}pt];\n", colour,
                     circle.filled ? ", fill=" + colour + ", fill opacity=0.5" : "", circle.x, circle.y,
                     circle.radius * kRooflinePtPerPx);
}

std::string text_tikz(const RooflinePicture::Text& text) {
  static constexpr const char* kAnchors[] = {"base west", "base", "base east"};
  return fmt::format("\\node[anchor={}, inner sep=0pt, font=\\scriptsize{}{}] at ({:.2f},{:.2f}) {{{}}};\n",
                     kAnchors[static_cast<int>(text.anchor)], text.muted ? ", text=black!70" : "",
                     text.rotation == 0 ? "" : fmt::format(", rotate={:.2f}", -text.rotation), text.x, text.y,
                     escape_latex(text.text));
}

std::string pgf_roofline(const Chart& chart) {
  const RooflinePicture picture = roofline_picture(chart, kRooflinePx);
  std::string out = fmt::format("\\begin{{tikzpicture}}[x={0}pt, y=-{0}pt]\n", kRooflinePtPerPx);
  if (picture.strip_right > picture.strip_left) {
    out += fmt::format("\\fill[black!5] ({:.2f},{:.2f}) rectangle ({:.2f},{:.2f});\n", picture.strip_left, picture.top,
                       picture.strip_right, picture.bottom);
  }
  using Stroke = RooflinePicture::Stroke;
  for (const auto& line : picture.lines) out += line.stroke == Stroke::kLeader ? "" : line_tikz(line);
  for (const auto& each : picture.circles) out += circle_tikz(each);
  for (const auto& line : picture.lines) out += line.stroke == Stroke::kLeader ? line_tikz(line) : "";
  for (const auto& each : picture.texts) out += text_tikz(each);
  return out + "\\end{tikzpicture}\n";
}

}  // namespace

std::string colour_name(std::size_t series) {
  return fmt::format("kymo{}", static_cast<char>('a' + series % kPalette.size()));
}

std::string pgfplots_preamble() {
  std::string out = "\\pgfplotsset{compat=1.16}\n\\usepgfplotslibrary{groupplots}\n";
  for (std::size_t i = 0; i < kPalette.size(); ++i)
    out += fmt::format("\\definecolor{{{}}}{{HTML}}{{{}}}\n", colour_name(i), kPalette[i].light);
  return out +
         "\\pgfplotsset{kymo chart/.style={width=0.94\\linewidth, height=7.2cm, axis lines*=left, axis line "
         "style={black!70},\n"
         "  ymajorgrids, grid style={black!12}, tick label style={font=\\footnotesize}, label style={font=\\small},\n"
         "  unbounded coords=jump, tick align=outside, scaled ticks=false, axis on top=false,\n"
         "  legend style={at={(0.5,1.03)}, anchor=south, legend columns=-1, draw=none, font=\\footnotesize, "
         "/tikz/every even "
         "column/.append style={column sep=8pt}}}}\n";
}

std::string pgfplots_picture(const Chart& raw) {
  if (raw.kind == ChartKind::kTimeline) return pgf_timeline(raw);
  if (raw.kind == ChartKind::kRoofline) return pgf_roofline(raw);
  if (!raw.panels.empty()) return pgf_panels(raw);
  const Chart chart = raw.kind == ChartKind::kArea ? area_picture(raw).chart : raw;
  std::string out =
      "\\begin{tikzpicture}\n\\begin{axis}[kymo chart,\n" + kind_options(chart, kAxisWidthPt) + value_options(chart);
  out += chart.categories.empty() ? point_options(chart) : category_options(chart, kAxisWidthPt);
  out += fmt::format("  xlabel={{{}}}, ylabel={{{}}}", axis_label(chart.x), axis_label(chart.y)) +
         legend_options(chart) + "]\n";
  return out + contents(chart, value_axis(chart).low, kAxisWidthPt, true) + reference_line_entry(chart) +
         "\\end{axis}\n\\end{tikzpicture}\n";
}

}  // namespace kymo::report
