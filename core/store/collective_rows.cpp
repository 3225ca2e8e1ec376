// SPDX-License-Identifier: Apache-2.0
#include "store/rank_rows.hpp"

namespace kymo::store {

void write_collectives(RankTarget& to, const std::vector<event::Collective>& collectives) {
  using R = const Entry<event::Collective>&;
  write_rows<event::Collective>(to, "collective", collectives,
                                {{"sequence", [](R r) -> RowValue { return r.sequence; }},
                                 {"communicator_id", [](R r) -> RowValue { return r.texts.name(r.item.communicator); }},
                                 {"call_number", [](R r) -> RowValue { return r.item.sequence; }},
                                 {"operation", [](R r) -> RowValue { return to_string(r.item.operation); }},
                                 {"bytes", [](R r) -> RowValue { return r.item.bytes; }},
                                 {"on_device", [](R r) -> RowValue { return r.item.on_device; }},
                                 {"enqueue_ns", [](R r) -> RowValue { return r.item.enqueue_ns; }},
                                 {"returned_ns", [](R r) { return RowValue::or_null(r.item.returned_ns); }},
                                 {"start_ns", [](R r) { return RowValue::or_null(r.item.start_ns); }},
                                 {"end_ns", [](R r) { return RowValue::or_null(r.item.end_ns); }},
                                 {"kernels", [](R r) -> RowValue { return r.item.kernels; }},
                                 {"step", [](R r) -> RowValue { return r.item.position.step; }},
                                 {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.position.phase); }},
                                 {"scope_id", [](R r) -> RowValue { return r.texts.text(r.item.scope); }},
                                 {"attribution", [](R r) -> RowValue { return to_string(r.item.attribution); }}});
}

}  // namespace kymo::store
