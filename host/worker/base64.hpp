// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kymo::worker {

/// Bytes as base64 (RFC 4648, padded).
std::string to_base64(std::string_view bytes);

/// The bytes of padded base64; throws Error on anything else.
std::string from_base64(std::string_view text);

}  // namespace kymo::worker
