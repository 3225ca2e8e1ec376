// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/journal_recovery.hpp"
#include "store/open.hpp"
#include "store/step_journal.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

class JournalWork : public StoreTest {};

TEST_F(JournalWork, WorkOfLibrariesIsRecovered) {
  const std::filesystem::path file = path("RUN-3-1-ops.kymo");
  {
    StepJournal journal(file, {.warmup = 0, .run_start_ns = 1000, .steps = 2, .device = {}});
    journal.set_phases({"forward"});
    event::NewEvents events;
    for (std::int32_t step = 0; step < 2; ++step) {
      events.clear();
      event::Operator call;
      call.name = events.texts.intern("mylib::scale");
      call.shapes = events.texts.intern(step == 0 ? "f32[7]" : "f32[8] ...");
      call.start_ns = 100 * step;
      call.end_ns = call.start_ns + 50;
      call.position.step = step;
      call.position.phase = 0;
      events.operators.push_back({step, call});
      event::LibraryOpWork work{call.name, call.shapes, {}};
      if (step == 0) work.call = {event::WorkKind::kElementwise, "f32", 7, 6, 5, 56};
      events.library_op_work.push_back(work);
      journal.add(events);
      event::StepTime time;
      time.step = step;
      time.begin_ns = 1000 + 100 * step;
      time.end_ns = time.begin_ns + 60;
      const event::PhaseTime phase{.calls = 1, .start_ns = time.begin_ns, .host_ns = 50};
      journal.add(time, {&phase, 1});
    }
  }
  EXPECT_EQ(recover_from_journal(file, 3, 1, measure::Pass::kOps, path("damaged")), 2);
  const auto found = open_rank_file(file, own_schema());
  EXPECT_EQ(found->text("SELECT group_concat(kind || ':' || dtype || ':' || flops || ':' || model_flops || ':' || "
                        "masked_model_flops || ':' || bytes) FROM op_work WHERE kind <> 'unknown'"),
            "elementwise:f32:7.0:6.0:5.0:56.0");
  EXPECT_EQ(found->integer("SELECT count(*) FROM op_work WHERE kind = 'unknown' AND flops IS NULL AND bytes IS NULL"),
            1);
}

}  // namespace
}  // namespace kymo::store::testing
