// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/document.hpp"

namespace kymo::report {

/// Gives each name of a series or class (an implementation, a phase, a kernel class) one color in all charts of the
/// document. Names in the same chart, or in charts of the same query, have different colors as long as the palette has
/// enough; of the names in different ones, several may share a color. A name that is first in the document gets the
/// first free color.
void assign_colours(Document& document);

}  // namespace kymo::report
