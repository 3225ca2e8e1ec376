/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the steps of the program and their phases in the pass time. The engine processes several steps at once. Most of
 * the cost of a function that is called once per step is cache misses, because the previous step has evicted its code
 * and data. So these functions touch little memory, and do not call the engine.
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
/* Ends the step. Returns 1 if the next one has begun, and 0 if step() has to return to the engine. */
int record_step_end(int engine_is_due);
/* Ends a phase and begins another one; kNoPhase: none. */
void record_phase_change(Phase from, Phase to);

#ifdef __cplusplus
}
#endif
#endif
