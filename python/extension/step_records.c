/* SPDX-License-Identifier: Apache-2.0 */
#include "step_records.h"

#include <string.h>
#include <time.h>

kymo_step_records step_records = {.size = sizeof step_records};

static kymo_step_record* step;  /* the current one */
static kymo_phase_time* phases; /* of the step, by Phase */
static kymo_phase_time* open;   /* one of them */
static int64_t opened_ns;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin_step(int64_t begin_ns) {
  step = (kymo_step_record*)(void*)(step_records.records + (size_t)step_records.count * step_records.record_bytes);
  phases = (kymo_phase_time*)(step + 1);
  *step = (kymo_step_record){.head = {.bytes = step_records.record_bytes - sizeof(kymo_block_head),
                                      .addition = step_records.addition + step_records.count},
                             .time = {.step = step_records.first + step_records.count,
                                      .begin_ns = begin_ns,
                                      .device_ns = -1,
                                      .cpu_ns = -1,
                                      .involuntary_switches = -1,
                                      .warmup = step_records.warmup}};
  for (int i = 0; i < kPhases; ++i) phases[i] = (kymo_phase_time){.device_ns = -1};
  __atomic_store_n(step_records.shown_step, step->time.step, __ATOMIC_RELAXED);
}

void record_step_begin(void) { begin_step(now_ns()); }

/* Stores the kind last, because readers of the journal take a block with a kind as complete. */
static void copy_to_journal(void) {
  const size_t at = (size_t)step_records.count * step_records.record_bytes;
  step->head.kind = step_records.kind;
  step->head.checksum = kymo_block_checksum(&step->head, step_records.offset + at, &step->time);
  char* const copy = step_records.journal + at;
  memcpy(copy + sizeof step->head.kind, (char*)step + sizeof step->head.kind,
         step_records.record_bytes - sizeof step->head.kind);
  __atomic_store_n((uint32_t*)(void*)copy, step->head.kind, __ATOMIC_RELEASE);
}

int record_step_end(int engine_is_due) {
  const int64_t end_ns = step->time.end_ns = now_ns();
  if (step_records.journal) copy_to_journal();
  if (++step_records.count == step_records.limit || end_ns >= step_records.due_ns || engine_is_due) return 0;
  begin_step(end_ns);
  return 1;
}

void record_phase_change(Phase from, Phase to) {
  const int64_t now = now_ns();
  if (from != kNoPhase) open->host_ns += now - opened_ns;
  if (to != kNoPhase) {
    open = &phases[to];
    opened_ns = now;
    if (open->calls++ == 0) open->start_ns = now;
  }
  __atomic_store_n(step_records.shown_phase, to == kNoPhase ? -1 : (int32_t)to, __ATOMIC_RELAXED);
}
