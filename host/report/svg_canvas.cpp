// SPDX-License-Identifier: Apache-2.0
#include "report/svg_canvas.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "report/escape.hpp"
#include "report/palette.hpp"

namespace kymo::report {
namespace {

// Two decimals are sufficient; trailing zeros only enlarge the file.
std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

const Shade& shade_of(std::size_t series) { return kPalette[series % kPalette.size()]; }

std::string tooltip_element(std::string_view text) {
  return text.empty() ? "" : "<title>" + escape_html(text) + "</title>";
}

std::string point_list(const std::vector<std::pair<double, double>>& points) {
  std::string out;
  for (const auto& [x, y] : points) out += (out.empty() ? "" : " ") + px(x) + "," + px(y);
  return out;
}

double em_of(char32_t c) {
  constexpr std::u32string_view kNarrow = U"iljtfrI.,:;'|!()[]{} /-";
  constexpr std::u32string_view kWide = U"mwMW@%";
  if (c >= 0x1100) return 1.05;
  if (c >= 0x80) return 0.66;
  if (kNarrow.find(c) != std::u32string_view::npos) return 0.36;
  if (kWide.find(c) != std::u32string_view::npos) return 0.92;
  return c >= 'A' && c <= 'Z' ? 0.7 : 0.58;
}

}  // namespace

double text_width(std::string_view text, double font_size) {
  double em = 0;
  while (!text.empty()) em += em_of(take_code_point(text));
  return em * font_size;
}

bool is_dark(std::string_view rgb) {
  const auto part = [rgb](std::size_t at) {
    return static_cast<double>(std::stoi(std::string(rgb.substr(at, 2)), nullptr, 16));
  };
  constexpr double kMiddle = 140;  // threshold at which black and white text are about equally readable
  return 0.299 * part(0) + 0.587 * part(2) + 0.114 * part(4) < kMiddle;
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view css_class, std::string_view colour,
                     double width) {
  body_ +=
      fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#{}\" stroke-width=\"{}\"/>\n",
                  css_class, px(x1), px(y1), px(x2), px(y2), colour, px(width));
}

void SvgCanvas::dashes(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view tooltip) {
  body_ += fmt::format(
      "<line class=\"ka\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#{}\" stroke-width=\"1.5\" "
      "stroke-dasharray=\"5 4\">{}</line>\n",
      px(x1), px(y1), px(x2), px(y2), colour, tooltip_element(tooltip));
}

void SvgCanvas::text(double x, double y, std::string_view text, Anchor anchor, double rotation, bool muted) {
  const char* anchors[] = {"start", "middle", "end"};
  const std::string rotation_attribute =
      rotation == 0 ? "" : fmt::format(" transform=\"rotate({} {} {})\"", px(rotation), px(x), px(y));
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"#{}\"{}>{}</text>\n",
                       muted ? "km" : "kt", px(x), px(y), anchors[static_cast<int>(anchor)],
                       muted ? "66707B" : "24292F", rotation_attribute, escape_html(text));
}

void SvgCanvas::bar(double x, double y, double width, double height, std::size_t series, std::string_view tooltip) {
  body_ += fmt::format("<rect class=\"kf{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{}\">{}</rect>\n",
                       series % kPalette.size(), px(x), px(y), px(width), px(height), shade_of(series).light,
                       tooltip_element(tooltip));
}

void SvgCanvas::heading(double x, double y, std::string_view text) {
  body_ += fmt::format("<text class=\"kt\" x=\"{}\" y=\"{}\" font-weight=\"600\" fill=\"#24292F\">{}</text>\n", px(x),
                       px(y), escape_html(text));
}

void SvgCanvas::text_on_bar(double x, double y, std::string_view text, std::size_t series) {
  body_ += fmt::format("<text class=\"ki\" x=\"{}\" y=\"{}\" font-size=\"10\" fill=\"#{}\">{}</text>\n", px(x), px(y),
                       is_dark(shade_of(series).light) ? "FFFFFF" : "16191D", escape_html(text));
}

void SvgCanvas::shade(double x, double y, double width, double height, std::string_view tooltip) {
  body_ += fmt::format("<rect class=\"ks\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#F0F2F5\">{}</rect>\n",
                       px(x), px(y), px(width), px(height), tooltip_element(tooltip));
}

void SvgCanvas::polygon(const std::vector<std::pair<double, double>>& corners, std::size_t series,
                        std::string_view tooltip) {
  body_ += fmt::format("<polygon class=\"kf{}\" points=\"{}\" fill=\"#{}\" fill-opacity=\"0.85\">{}</polygon>\n",
                       series % kPalette.size(), point_list(corners), shade_of(series).light, tooltip_element(tooltip));
}

void SvgCanvas::polyline(const std::vector<std::pair<double, double>>& points, std::size_t series) {
  if (points.size() < 2) return;
  // Beyond the palette the colors repeat; dashes distinguish such series.
  const char* dash = series >= kLineColours ? " stroke-dasharray=\"6 3\"" : "";
  body_ += fmt::format(
      "<polyline class=\"kl{}\" points=\"{}\" fill=\"none\" stroke=\"#{}\" stroke-width=\"2\" "
      "stroke-linejoin=\"round\"{}/>\n",
      series % kLineColours, point_list(points), shade_of(series % kLineColours).light, dash);
}

void SvgCanvas::circle(double x, double y, double radius, std::size_t series, bool filled, std::string_view tooltip) {
  const std::size_t colour = series % kPalette.size();
  const char* light = shade_of(series).light;
  // Outlines are filled as well, so that a browser shows the tooltip over their whole area.
  body_ += fmt::format(
      "<circle class=\"kf{0} kl{0}\" cx=\"{1}\" cy=\"{2}\" r=\"{3}\" fill=\"#{4}\" fill-opacity=\"{5}\" "
      "stroke=\"#{4}\" stroke-width=\"1.2\">{6}</circle>\n",
      colour, px(x), px(y), px(radius), light, filled ? "0.5" : "0", tooltip_element(tooltip));
}

void SvgCanvas::marker(double x, double y, std::size_t series, std::string_view tooltip) {
  const std::size_t colour = series % kLineColours;
  const std::string paint = fmt::format("class=\"kf{}\" fill=\"#{}\"", colour, shade_of(colour).light);
  const std::string title = tooltip_element(tooltip);
  constexpr double kRadius = 4;
  const double r = kRadius;
  switch (series % kMarkerShapes) {
    case 0:
      body_ += fmt::format("<circle {} cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n", paint, px(x), px(y), px(r), title);
      return;
    case 1:
      body_ += fmt::format("<rect {} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>\n", paint, px(x - r + 0.5),
                           px(y - r + 0.5), px(2 * r - 1), px(2 * r - 1), title);
      return;
    case 2:
      body_ += fmt::format("<polygon {} points=\"{}\">{}</polygon>\n", paint,
                           point_list({{x, y - r - 0.5}, {x + r, y + r - 1}, {x - r, y + r - 1}}), title);
      return;
    default:
      body_ += fmt::format("<polygon {} points=\"{}\">{}</polygon>\n", paint,
                           point_list({{x, y - r - 1}, {x + r + 1, y}, {x, y + r + 1}, {x - r - 1, y}}), title);
  }
}

}  // namespace kymo::report
