// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Records as one version of CUPTI defines them: fabricated_records.cpp is compiled with the headers of that version,
/// everything else with those of the build. So nothing of CUPTI appears here.
namespace kymo::collect {

struct FabricatedRecords {
  std::uint32_t cupti_version;       ///< CUPTI_API_VERSION of the headers
  std::vector<std::uint64_t> words;  ///< a buffer with one record of each kind, in the order of `sizes`
  std::vector<std::size_t> sizes;    ///< of the newest struct of each kind
  std::vector<std::uint32_t> kinds;
  std::vector<std::uint32_t> new_calls;  ///< numbers of the launch calls that CUPTI 13.0 does not report
};

FabricatedRecords fabricate_records();

}  // namespace kymo::collect
