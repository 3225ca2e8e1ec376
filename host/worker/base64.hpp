// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kymo::worker {

/// Encodes bytes as base64 (RFC 4648, padded).
std::string to_base64(std::string_view bytes);

/// Decodes padded base64; throws Error for any other input.
std::string from_base64(std::string_view text);

}  // namespace kymo::worker
