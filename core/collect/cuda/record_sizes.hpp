// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstddef>

namespace kymo::collect {

/// Returns the size of the activity records of a kind that the CUPTI of this process delivers, which can be newer than
/// the headers: versions append fields. 0 for kinds that are not used here, and for records without all fields of the
/// struct that they are read as.
std::size_t record_size(CUpti_ActivityKind kind);

}  // namespace kymo::collect
