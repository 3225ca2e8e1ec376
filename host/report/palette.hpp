// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace kymo::report {

/// One series' colour on white and on dark ground, as RRGGBB. After Okabe and Ito: told apart with any kind of colour vision.
struct Shade {
  const char* light;
  const char* dark;
};

inline constexpr std::array<Shade, 8> kPalette{{{"0072B2", "56A8E0"},
                                                {"E69F00", "F0B43C"},
                                                {"009E73", "2FC39A"},
                                                {"CC79A7", "E39CC3"},
                                                {"D55E00", "F08242"},
                                                {"56B4E9", "9AD6F7"},
                                                {"6B6B6B", "B4B4B4"},
                                                {"B8A800", "F0E442"}}};

inline constexpr std::size_t kMarkerShapes = 4;  ///< circle, square, triangle, diamond

}  // namespace kymo::report
