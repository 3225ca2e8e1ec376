// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace kymo::report {

/// Color of a series on light and dark backgrounds, as RRGGBB. The first eight are based on Okabe and Ito and are
/// distinguishable with color vision deficiency; the others also differ from them in lightness.
struct Shade {
  const char* light;
  const char* dark;
};

inline constexpr std::array<Shade, 16> kPalette{{{"0072B2", "56A8E0"},
                                                 {"E69F00", "F0B43C"},
                                                 {"009E73", "2FC39A"},
                                                 {"CC79A7", "E39CC3"},
                                                 {"D55E00", "F08242"},
                                                 {"56B4E9", "9AD6F7"},
                                                 {"6B6B6B", "B4B4B4"},
                                                 {"B8A800", "F0E442"},
                                                 {"332288", "8C7FE0"},
                                                 {"DDCC77", "E8DCA0"},
                                                 {"882255", "C8628F"},
                                                 {"117733", "5FBF7A"},
                                                 {"AA4499", "D58AC9"},
                                                 {"8DA0CB", "B3C1E0"},
                                                 {"8C564B", "C09085"},
                                                 {"C4C4C4", "7A7A7A"}}};

inline constexpr std::size_t kLineColours = 8;  ///< number of palette colors for lines: thin lines need the most
                                                ///< distinguishable ones; further series are dashed

/// Color of the i-th class of a timeline; classes beyond the palette share its last color, gray.
constexpr std::size_t class_colour(std::size_t i) { return i < kPalette.size() ? i : kPalette.size() - 1; }

inline constexpr std::size_t kMarkerShapes = 4;  ///< circle, square, triangle, diamond

}  // namespace kymo::report
