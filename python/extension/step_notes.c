/* SPDX-License-Identifier: Apache-2.0 */
#include "step_notes.h"

#include <stddef.h>
#include <time.h>

kymo_noted_steps noted_steps = {.size = sizeof noted_steps};

static kymo_noted_step* step;   /* that is being timed */
static kymo_phase_time* phases; /* of the step, by Phase */
static kymo_phase_time* open;   /* one of them */
static int64_t opened_ns;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin_step(int64_t begin_ns) {
  step = (kymo_noted_step*)(void*)(noted_steps.blocks + (size_t)noted_steps.count * noted_steps.block_bytes);
  phases = (kymo_phase_time*)(step + 1);
  *step = (kymo_noted_step){.head = {.bytes = noted_steps.block_bytes - offsetof(kymo_noted_step, step),
                                     .addition = noted_steps.addition + noted_steps.count},
                            .step = noted_steps.first + noted_steps.count,
                            .begin_ns = begin_ns,
                            .device_ns = -1,
                            .cpu_ns = -1,
                            .involuntary_switches = -1,
                            .warmup = (uint8_t)noted_steps.warmup};
  for (int i = 0; i < kPhases; ++i) phases[i] = (kymo_phase_time){.device_ns = -1};
  __atomic_store_n(noted_steps.shown_step, step->step, __ATOMIC_RELAXED);
}

void note_step_begin(void) { begin_step(now_ns()); }

int note_step_end(int engine_is_due) {
  step->end_ns = now_ns();
  const int64_t end_ns = step->end_ns;
  kymo_block_head head = step->head;
  head.kind = noted_steps.kind;
  const uint64_t offset = noted_steps.offset + (uint64_t)noted_steps.count * noted_steps.block_bytes;
  step->head.checksum = kymo_block_checksum(&head, offset, &step->step);
  __atomic_store_n(&step->head.kind, head.kind, __ATOMIC_RELEASE);
  if (++noted_steps.count == noted_steps.limit || end_ns >= noted_steps.due_ns || engine_is_due) return 0;
  begin_step(end_ns);
  return 1;
}

static void begin_phase_at(Phase phase, int64_t begin_ns) {
  open = &phases[phase];
  opened_ns = begin_ns;
  if (open->calls++ == 0) open->start_ns = begin_ns;
  __atomic_store_n(noted_steps.shown_phase, (int32_t)phase, __ATOMIC_RELAXED);
}

void note_phase_begin(Phase phase) { begin_phase_at(phase, now_ns()); }

void note_phase_end(void) {
  open->host_ns += now_ns() - opened_ns;
  __atomic_store_n(noted_steps.shown_phase, -1, __ATOMIC_RELAXED);
}

void note_phase_change(Phase phase) {
  const int64_t now = now_ns();
  open->host_ns += now - opened_ns;
  begin_phase_at(phase, now);
}
