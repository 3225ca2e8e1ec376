/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a step and of its phases, as the log of steps, the journal and observed programs store them. Times in
 * ns, points in time on the host clock, CLOCK_MONOTONIC_RAW; -1 where nothing was recorded. */
#ifndef KYMO_EVENT_STEP_TIME_H
#define KYMO_EVENT_STEP_TIME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
#define KYMO_DEFAULT(value) = value
extern "C" {
#else
#define KYMO_DEFAULT(value)
#endif

typedef struct kymo_phase_time {
  int64_t calls KYMO_DEFAULT(0);
  int64_t start_ns KYMO_DEFAULT(0);
  int64_t host_ns KYMO_DEFAULT(0);
  int64_t device_ns KYMO_DEFAULT(-1);
} kymo_phase_time;

/* Without names and memory of its own, so that it can be stored between two steps. */
typedef struct kymo_step_time {
  int64_t step KYMO_DEFAULT(0);
  int64_t begin_ns KYMO_DEFAULT(0);
  int64_t end_ns KYMO_DEFAULT(0);
  int64_t device_ns KYMO_DEFAULT(-1);
  int64_t cpu_ns KYMO_DEFAULT(-1);
  int64_t involuntary_switches KYMO_DEFAULT(-1);
  bool warmup KYMO_DEFAULT(false);
  bool throttled KYMO_DEFAULT(false);
  uint8_t reserved[6] KYMO_DEFAULT({});
} kymo_step_time;

#ifdef __cplusplus
}
#endif
#undef KYMO_DEFAULT
#endif /* KYMO_EVENT_STEP_TIME_H */
