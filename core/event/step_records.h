/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that an observed program times itself: shared by the program, which writes them, and the worker engine.
 */
#ifndef KYMO_EVENT_STEP_RECORDS_H
#define KYMO_EVENT_STEP_RECORDS_H

#include "event/journal_block.h"
#include "event/step_time.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A block of the journal: a step that the program has timed. A kymo_phase_time for each declared phase follows. */
typedef struct kymo_step_record {
  kymo_block_head head;
  kymo_step_time time;
} kymo_step_record;

/* Records of steps that an observed program writes itself, so that the engine need not run after each of them. The
 * engine fills this in before it calls step(). step() returns when `limit` steps are complete, or the first one that
 * ends at due_ns or later, or earlier. The program copies each complete record to the journal, which outlives it if it
 * is killed, but which it may damage. */
typedef struct kymo_step_records {
  uint32_t size;         /* sizeof(kymo_step_records) */
  uint32_t limit;        /* 0: step() returns after one step, and phase_begin() and phase_end() are called */
  uint32_t count;        /* of complete steps, written by the program */
  uint32_t kind;         /* of a complete step */
  uint32_t record_bytes; /* of a step with its phases */
  uint32_t warmup;       /* 1 if these are warm-up steps */
  uint32_t addition;     /* of the first record */
  int64_t first;         /* number of the first of them */
  int64_t due_ns;
  char* records;
  char* journal;        /* where the same records are in the journal; NULL: nowhere */
  uint64_t offset;      /* of the first of them in the file */
  int64_t* shown_step;  /* show the supervisor the current step and phase, */
  int32_t* shown_phase; /* -1 outside of phases */
} kymo_step_records;

#ifdef __cplusplus
}
#endif
#endif /* KYMO_EVENT_STEP_RECORDS_H */
