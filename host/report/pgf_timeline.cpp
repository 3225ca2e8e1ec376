// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/axis.hpp"
#include "report/escape.hpp"
#include "report/palette.hpp"
#include "report/pgfplots.hpp"
#include "report/svg_canvas.hpp"
#include "report/timeline_picture.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr double kWholeWidthPt = 455;  // slightly less than the text width
constexpr double kPtPerPx = 0.72;      // scale from picture pixels to paper
constexpr double kTallestPt = 600;     // maximum that fits on a page with a caption
constexpr double kWidestMarginPt = 130;
constexpr double kBarFontPt = 5;

std::string position(double value) { return fmt::format("{:.6g}", value); }

std::string cut_to(const std::string& raw, double points, double font) {
  const std::string text = printable(raw);
  if (text_width(text, font) <= points) return text;
  const auto length = static_cast<std::size_t>(points / (font * 0.6));
  return length < 4 ? "" : shortened(text, length);
}

class PgfTimeline {
 public:
  explicit PgfTimeline(const Chart& chart) : picture_(timeline_picture(chart, kTimelinePlotPx)) {
    for (const auto& line : picture_.lines) {
      if (line.kind != LineKind::kPanel) margin_pt_ = std::max(margin_pt_, text_width(printable(line.text), 8) + 6);
    }
    margin_pt_ = std::min(margin_pt_, kWidestMarginPt);
    width_pt_ = kWholeWidthPt - margin_pt_;
  }

  std::string picture() const {
    std::string out = "\\begin{tikzpicture}\n" + axis_options();
    for (const auto& line : picture_.lines) out += margin(line);
    for (const auto& bar : picture_.bars) out += rectangle(bar);
    return out + legend() + "\\end{axis}\n\\end{tikzpicture}\n";
  }

 private:
  using LineKind = TimelinePicture::LineKind;

  std::string axis_options() const {
    std::vector<std::string> positions;
    std::vector<std::string> labels;
    for (const double tick : linear_ticks(0, picture_.span, 6)) {
      if (tick > picture_.span) continue;
      positions.push_back(position(tick));
      labels.push_back("{" + escape_latex(tick_label(tick)) + "}");
    }
    const double height = std::min(kTallestPt, picture_.height * kPtPerPx);
    return fmt::format(
        "\\begin{{axis}}[kymo chart, scale only axis, width={:.1f}pt, height={:.1f}pt, clip=false,\n"
        "  xmin=0, xmax={}, ymin=0, ymax={}, y dir=reverse, axis x line*=bottom, axis y line=none,\n"
        "  ymajorgrids=false, xmajorgrids, xtick={{{}}}, xticklabels={{{}}},\n"
        "  xlabel={{{}}}, legend columns={}, legend style={{at={{(0.5,1)}}, yshift=4pt, cells={{anchor=west}}}},\n"
        "  legend image code/.code={{\\draw[#1] (0cm,-0.08cm) rectangle (0.18cm,0.12cm);}}]\n",
        width_pt_, height, position(picture_.span), position(picture_.height), join(positions, ","), join(labels, ","),
        escape_latex("time (" + picture_.unit + ")"), legend_columns());
  }

  // Spans lanes and margin.
  std::string panel(const TimelinePicture::Line& line) const {
    const std::string bottom = position(line.top + line.height - 4);
    return fmt::format("\\fill[black!7] ([xshift=-{:.1f}pt]axis cs:0,{}) rectangle (axis cs:{},{});\n", margin_pt_,
                       position(line.top), position(picture_.span), bottom) +
           fmt::format(
               "\\node[anchor=west, inner sep=0pt, font=\\scriptsize] at ([xshift=-{:.1f}pt]axis cs:0,{}) "
               "{{\\textbf{{{}}}}};\n",
               margin_pt_ - 4, position(line.top + (line.height - 4) / 2),
               escape_latex(cut_to(line.text, kWholeWidthPt - 8, 8)));
  }

  std::string margin(const TimelinePicture::Line& line) const {
    if (line.kind == LineKind::kPanel) return panel(line);
    const bool heading = line.kind == LineKind::kGroup;
    const std::string text = escape_latex(cut_to(line.text, margin_pt_ - 4, 8));
    const double middle = heading ? line.top + line.height * 0.6 : line.top + 7;
    std::string out;
    if (heading) {
      out +=
          fmt::format("\\draw[black!20, line width=0.3pt] ([xshift=-{0:.1f}pt]axis cs:0,{1}) -- (axis cs:{2},{1});\n",
                      margin_pt_, position(line.top + 2), position(picture_.span));
    }
    return out + fmt::format(
                     "\\node[anchor=west, inner sep=0pt, font=\\scriptsize, text=black!{}] at ([xshift=-{:.1f}pt]axis "
                     "cs:0,{}) {{{}}};\n",
                     heading ? 100 : 70, margin_pt_ - (heading ? 0 : 5), position(middle),
                     heading ? "\\textbf{" + text + "}" : text);
  }

  std::string rectangle(const TimelinePicture::Bar& bar) const {
    const double wide = (bar.end - bar.start) / picture_.span * width_pt_;
    // A small gap separates adjacent bars of the same color.
    const double gap = wide > 2.5 ? 0.35 / width_pt_ * picture_.span : 0;
    std::string out =
        fmt::format("\\fill[{}] (axis cs:{},{}) rectangle (axis cs:{},{});\n", colour_name(bar.colour),
                    position(bar.start), position(bar.top), position(bar.end - gap), position(bar.top + bar.height));
    const std::string label = wide < 16 || bar.label.empty() ? "" : cut_to(bar.label, wide - 3, kBarFontPt);
    if (label.empty()) return out;
    return out + fmt::format(
                     "\\node[anchor=west, inner sep=0pt, xshift=1.5pt, font=\\fontsize{{5}}{{5}}\\selectfont, text={}] "
                     "at (axis cs:{},{}) "
                     "{{{}}};\n",
                     is_dark(kPalette[bar.colour].light) ? "white" : "black", position(bar.start),
                     position(bar.top + bar.height / 2), escape_latex(label));
  }

  std::size_t legend_columns() const {
    double widest = 1;
    for (const auto& entry : picture_.legend)
      widest = std::max(widest, text_width(shortened(printable(entry.text), kMaxLegendLength), 8) + 24);
    return std::clamp<std::size_t>(static_cast<std::size_t>(width_pt_ / widest), 1,
                                   std::max<std::size_t>(1, picture_.legend.size()));
  }

  std::string legend() const {
    std::string out;
    for (const auto& entry : picture_.legend) {
      out += fmt::format("\\addlegendimage{{fill={0}, draw={0}}}\n\\addlegendentry{{{1}}}\n", colour_name(entry.colour),
                         escape_latex(shortened(printable(entry.text), kMaxLegendLength)));
    }
    return out;
  }

  TimelinePicture picture_;
  double margin_pt_ = 40;
  double width_pt_ = 0;
};

}  // namespace

std::string pgf_timeline(const Chart& chart) { return PgfTimeline(chart).picture(); }

}  // namespace kymo::report
