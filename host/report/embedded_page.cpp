// SPDX-License-Identifier: Apache-2.0
#include "report/embedded_page.hpp"

#include "base/file.hpp"

namespace kymo::report {
namespace {

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// RFC 4648, section 4.
std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63u];
  }
  return out;
}

}  // namespace

std::string page_script_source() { return "'sha256-" + base64(bytes_of_hex(sha256(page_script()))) + "'"; }

}  // namespace kymo::report
