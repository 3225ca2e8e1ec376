// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// How ratios of two times are stated, everywhere: below a factor of 1.5 in percent of the time, from 1.5 on as a
/// factor. "5.1 % faster" is a ratio of 0.949 (5.1 % less time), "5.1 % slower" of 1.051, "1.97 times as fast" of 0.508
/// and "1.97 times as long" of 1.97. Ratios are positive and finite: the time in question over the time to compare
/// with.
namespace kymo::measure {

/// Smallest factor that is stated as such.
inline constexpr double kLeastFactor = 1.5;

/// Two significant digits or one decimal, without the sign: 0.43, 5.1 and 120.
std::string percent_text(double share);

/// "5.1 % faster", "1.97 times as fast", "5.1 % slower" or "1.97 times as long".
std::string ratio_text(double ratio);

/// The same as a predicate: "is 5.1 % faster than", "is 1.97 times as fast as", "takes 1.97 times as long as"; if it is
/// not `certain`, "measured 1.97 times as long as".
std::string ratio_predicate(double ratio, bool certain = true);

/// All ratios between two: "4.2 to 6.0 % faster", with a factor in the unit of the larger one: "1.06 to 16.3 times as
/// fast". If they include 1, both ends say their direction: "0.40 % faster to 2.10 times as long".
std::string ratio_range_text(double low, double high);

/// The interval of a ratio that ratio_text() states, in the same unit and orientation, from low to high: "4.2 to 6.0 %"
/// or "1.90 to 2.03 times", even if an end lies on the other side of a factor of 1.5. As ratio_range_text() if it
/// includes 1 or lies on the other side of it.
std::string ratio_interval_text(double ratio, double low, double high);

}  // namespace kymo::measure
