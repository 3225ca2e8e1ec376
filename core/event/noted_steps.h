/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that an observed program times itself: shared by the program, which writes them, and the worker engine.
 */
#ifndef KYMO_EVENT_NOTED_STEPS_H
#define KYMO_EVENT_NOTED_STEPS_H

#include <stdint.h>

#include "event/journal_block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Times of a phase of a step, in ns; start_ns on CLOCK_MONOTONIC_RAW; device_ns is -1. */
typedef struct kymo_phase_time {
  int64_t calls, start_ns, host_ns, device_ns;
} kymo_phase_time;

/* A step that the program has timed, in ns on CLOCK_MONOTONIC_RAW; what it does not know is -1. A kymo_phase_time for
 * each declared phase follows. */
typedef struct kymo_noted_step {
  kymo_block_head head;
  int64_t step, begin_ns, end_ns, device_ns, cpu_ns, involuntary_switches;
  uint8_t warmup, throttled, reserved[6];
} kymo_noted_step;

/* Steps that an observed program times itself, so that the engine need not run after each of them. The engine fills
 * this in before it calls step(), and the program writes the blocks of its steps. step() returns when `limit` steps are
 * complete, or the first one that ends at due_ns or later, or earlier. The blocks outlive a program that is killed. */
typedef struct kymo_noted_steps {
  uint32_t size;        /* sizeof(kymo_noted_steps) */
  uint32_t limit;       /* 0: step() returns after one step, and phase_begin() and phase_end() are called */
  uint32_t count;       /* of complete steps, written by the program */
  uint32_t kind;        /* of a complete step */
  uint32_t block_bytes; /* of a step with its phases */
  uint32_t warmup;      /* 1 if these are warm-up steps */
  uint32_t addition;    /* of the first block */
  int64_t first;        /* number of the first of them */
  int64_t due_ns;
  uint64_t offset; /* of the first block in the journal */
  char* blocks;
  int64_t* shown_step;  /* show the supervisor the current step and phase, */
  int32_t* shown_phase; /* -1 outside of phases */
} kymo_noted_steps;

#ifdef __cplusplus
}
#endif
#endif /* KYMO_EVENT_NOTED_STEPS_H */
