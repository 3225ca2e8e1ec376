// SPDX-License-Identifier: Apache-2.0
#include "report/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr int kAutoDigits = 4;
constexpr std::string_view kMicro = "µ";
constexpr std::array<std::string_view, 10> kPrefixes{"n", kMicro, "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::size_t kNoPrefix = 3;         // position of the empty one in kPrefixes
constexpr std::size_t kMaxTextLength = 300;  // in a report; CSV files contain full texts

int exponent_of(double value) { return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value)))); }

std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, std::clamp(decimals, 0, 12));
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);  // no "-0.00"
  return text;
}

bool needs_exponent(double value) { return value != 0 && (std::abs(value) < 1e-6 || std::abs(value) >= 1e15); }

// Two significant digits of the uncertainty, but at least three and at most six of the value.
int measured_decimals(double value, double uncertainty) {
  const int by_value = exponent_of(value);
  if (uncertainty <= 0) return std::max(0, 3 - by_value);
  return std::clamp(1 - exponent_of(uncertainty), std::max(0, 2 - by_value), std::max(0, 5 - by_value));
}

CellText real_text(const NumberFormat& format, double value, const std::optional<double>& uncertainty) {
  if (!std::isfinite(value)) return {fmt::format("{}", value), "", false, ""};
  CellText text;
  text.numeric = true;
  const bool by_uncertainty =
      format.kind == NumberFormat::Kind::kMeasured || (uncertainty && format.kind == NumberFormat::Kind::kAuto);
  if (format.kind == NumberFormat::Kind::kFixed) {
    text.value = fixed(value, format.digits);
  } else if (by_uncertainty && uncertainty && std::isfinite(*uncertainty) && !needs_exponent(value)) {
    text.value = fixed(value, measured_decimals(value, *uncertainty));
  } else {
    const bool is_general = format.kind == NumberFormat::Kind::kGeneral;
    const bool has_digits = is_general || format.kind == NumberFormat::Kind::kSignificant;
    const int digits = has_digits ? std::max(1, format.digits) : kAutoDigits;
    text.value = is_general ? general_text(value, digits) : significant_text(value, digits);
  }
  if (!uncertainty || !std::isfinite(*uncertainty)) return text;
  const bool exponent = text.value.find('e') != std::string::npos;
  text.uncertainty =
      exponent ? significant_text(*uncertainty, 2) : fixed(*uncertainty, static_cast<int>(decimals_of(text.value)));
  return text;
}

double power_of(std::size_t prefix) {
  return std::pow(1000.0, static_cast<double>(prefix) - static_cast<double>(kNoPrefix));
}

/// How often a value is divided by 1000 until three digits of it are below 1000, at most `most` times.
std::size_t thousands_in(double value, std::size_t most) {
  std::size_t count = 0;
  for (double left = std::abs(value); left >= 999.5 && count < most; left /= 1e3) ++count;
  return count;
}

/// Position in kPrefixes of the largest prefix that leaves a digit before the point. Times have none above the second,
/// and counts none below one.
std::size_t prefix_for(double value, const std::string& unit) {
  if (unit == "s") return value == 0 ? kNoPrefix : thousands_in(value * 1e9, kNoPrefix);
  return kNoPrefix + thousands_in(value, kPrefixes.size() - 1 - kNoPrefix);
}

/// A value in `unit`, and its uncertainty, with the prefix that suits the value.
CellText prefixed_text(const NumberFormat& format, const BaseUnit& unit, double value,
                       std::optional<double> uncertainty) {
  const std::size_t prefix = prefix_for(value * unit.factor, unit.name);
  const double scale = unit.factor / power_of(prefix);
  if (uncertainty) *uncertainty *= scale;
  CellText text = real_text(format, value * scale, uncertainty);
  if (text.numeric) text.suffix = std::string(kPrefixes[prefix]) + unit.name;
  return text;
}

CellText percent_text(int digits, double share) { return {fixed(100 * share, digits), "", true, "%"}; }

CellText bytes_text(double bytes) {
  const std::string text = format_bytes(static_cast<std::int64_t>(std::llround(bytes)));
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return {text, "", true, ""};
  return {text.substr(0, space), "", true, text.substr(space + 1)};
}

// Length of the fraction including the decimal point; 0 for a number with an exponent.
std::size_t fraction_length(std::string_view number) {
  const std::size_t decimals = number.find('e') == std::string_view::npos ? decimals_of(number) : 0;
  return decimals == 0 ? 0 : decimals + 1;
}

}  // namespace

std::string prefixed(double value, const NumberFormat& format, const std::string& unit) {
  const CellText text = prefixed_text(format, {unit, 1}, value, std::nullopt);
  return text.suffix.empty() ? text.value : text.value + " " + text.suffix;
}

std::string half_width_text(double share) {
  const double percent = 100 * share;
  const std::string number = percent > 0 && percent < 0.05 ? "<0.1" : fixed(percent, percent < 9.95 ? 1 : 0);
  return "± " + number + " %" + (share > kMaxHalfWidth ? " (not reproducible)" : "");
}

std::optional<BaseUnit> base_unit(std::string_view unit) {
  if (unit == "1") return BaseUnit{};
  for (const std::string_view name : {"FLOP/s", "FLOP", "B/s", "B", "s"}) {
    if (!unit.ends_with(name)) continue;
    const std::string_view prefix = unit.substr(0, unit.size() - name.size());
    const auto found = std::find(kPrefixes.begin(), kPrefixes.end(), prefix);
    if (found == kPrefixes.end()) continue;
    return BaseUnit{std::string(name), power_of(static_cast<std::size_t>(found - kPrefixes.begin()))};
  }
  return std::nullopt;
}

std::string significant_text(double value, int significant) {
  if (value == 0) return "0";
  if (needs_exponent(value)) return fmt::format("{:.{}e}", value, std::max(0, significant - 1));
  std::string text = fixed(value, significant - 1 - exponent_of(value));
  // 9.9996 with four digits rounds to 10.0000, which has one digit too many.
  const int rounded_exponent = exponent_of(std::strtod(text.c_str(), nullptr));
  if (rounded_exponent > exponent_of(value)) text = fixed(value, significant - 1 - rounded_exponent);
  return text;
}

std::string general_text(double value, int significant) {
  std::string number = significant_text(value, significant);
  if (decimals_of(number) == 0) return number;
  const std::size_t exponent = std::min(number.find('e'), number.size());
  const std::size_t last = number.find_last_not_of('0', exponent - 1);
  return number.substr(0, number[last] == '.' ? last : last + 1) + number.substr(exponent);
}

CellText cell_text(const Column& column, const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kAbsent:
      return {"–", "", false, ""};
    case Cell::Kind::kText:
    case Cell::Kind::kState:
      return {shortened(cell.text, kMaxTextLength), "", false, ""};
    default:
      break;
  }
  const double value = cell.kind == Cell::Kind::kInteger ? static_cast<double>(cell.integer) : cell.real;
  const auto kind = column.format.kind;
  if (kind == NumberFormat::Kind::kBytes) return bytes_text(value);
  if (kind == NumberFormat::Kind::kPercent) return percent_text(column.format.digits, value);
  const bool is_relative = column.format.relative && cell.uncertainty;
  if (is_relative || cell.to) {
    Cell number{.kind = cell.kind, .text = "", .integer = cell.integer, .real = cell.real, .uncertainty = {}};
    number.unit = cell.unit;
    CellText text = cell_text(column, number);
    if (cell.to) number = {.kind = Cell::Kind::kReal, .text = "", .integer = 0, .real = *cell.to, .uncertainty = {}};
    const std::string more = cell.to ? "to\u00A0" + plain_text(column, number) : half_width_text(*cell.uncertainty);
    text.suffix += (text.suffix.empty() ? "" : "\u00A0") + more;
    return text;
  }
  if (column.format.auto_prefix)
    if (const auto unit = base_unit(cell.unit.empty() ? column.unit : cell.unit))
      return prefixed_text(column.format, *unit, value, cell.uncertainty);
  const bool whole = cell.kind == Cell::Kind::kInteger && !cell.uncertainty &&
                     (kind == NumberFormat::Kind::kAuto || kind == NumberFormat::Kind::kPlain);
  if (whole) return {std::to_string(cell.integer), "", true, ""};
  return real_text(column.format, value, cell.uncertainty);
}

std::string grouped(std::string_view number, std::string_view separator) {
  const std::size_t begin = number.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(number.find_first_not_of("0123456789", begin), number.size());
  if (end - begin < 5) return std::string(number);
  std::string out(number.substr(0, begin));
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && (end - i) % 3 == 0) out += separator;
    out += number[i];
  }
  return out + std::string(number.substr(end));
}

std::string grouped_in(const Column& column, std::string_view number) {
  return column.format.kind == NumberFormat::Kind::kPlain ? std::string(number) : grouped(number);
}

std::size_t decimals_of(std::string_view number) {
  const std::size_t point = number.find('.');
  const std::size_t end = std::min(number.find('e'), number.size());
  return point == std::string_view::npos ? 0 : end - point - 1;
}

std::string plain_text(const Column& column, const Cell& cell) {
  const CellText text = cell_text(column, cell);
  if (!text.numeric) return text.value;
  std::string out = grouped_in(column, text.value);
  if (!text.uncertainty.empty()) out += "\u00A0±\u00A0" + grouped_in(column, text.uncertainty);
  if (!text.suffix.empty()) out += "\u00A0" + text.suffix;
  return out;
}

Fractions fractions_of(const Table& table, std::size_t column) {
  constexpr std::size_t kMost = 4;
  Fractions longest;
  for (const auto& row : table.rows) {
    const CellText text = cell_text(table.columns[column], row[column]);
    if (!text.numeric || !text.suffix.empty()) continue;
    longest.value = std::max(longest.value, std::min(fraction_length(text.value), kMost));
    longest.uncertainty = std::max(longest.uncertainty, std::min(fraction_length(text.uncertainty), kMost));
  }
  return longest;
}

std::string missing_fraction(std::string_view number, std::size_t longest) {
  const std::size_t have = fraction_length(number);
  if (have >= longest || number.find('e') != std::string_view::npos) return "";
  return std::string(have == 0 ? "." : "") + std::string(longest - have - (have == 0 ? 1 : 0), '0');
}

std::string common_unit(const Column& column) { return column.format.auto_prefix ? "" : column.unit; }

std::string column_heading(const Column& column) {
  const std::string unit = common_unit(column);
  return unit.empty() ? column.title : column.title + " (" + unit + ")";
}

}  // namespace kymo::report
