/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the steps of the program and their phases in the pass time, for the engine, which processes several of them at
 * once. Most of what a function costs that a step calls once is that the step before has evicted its code and data from
 * the processor's caches. So these functions touch little, and call none of the engine.
 */
#ifndef KYMO_STEP_RECORDS_H
#define KYMO_STEP_RECORDS_H

#include "event/step_records.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kPhases = 4 };
typedef enum {
  kLoading,
  kForward,
  kBackward,
  kOptimizer,
  kNoPhase /* between phases; not recorded */,
  kPhaseEnds
} Phase;

extern kymo_step_records step_records; /* filled in by the engine */

static inline int are_steps_recorded(void) { return step_records.limit > 0; }
/* At the begin of the engine's step(). */
void record_step_begin(void);
/* Ends the step. Returns 1 if it has begun the next one, and 0 if step() is to return. */
int record_step_end(int engine_is_due);
/* One phase ends, and another one begins; kNoPhase: none. */
void record_phase_change(Phase from, Phase to);

#ifdef __cplusplus
}
#endif
#endif
