/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the processes of an observed program agree on the step with which a requested window begins: a file that each of
 * them maps, and the supervisor.
 *
 * The supervisor proposes a step that no process has reached, and how many processes are to accept it. A process
 * accepts the proposal at the boundary of a step before that one. At the boundary of that step, the window begins if
 * all have accepted; otherwise the proposal fails, for all of them, and the supervisor makes another one. All of this
 * is one word, so that every process sees the same decision.
 */
#ifndef KYMO_EVENT_WINDOW_PAGE_H
#define KYMO_EVENT_WINDOW_PAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KYMO_WINDOW_PAGE_VERSION = 1, KYMO_WINDOW_PROCESSES = 4096, KYMO_WINDOW_PATH = 4096 };

typedef struct kymo_window_process {
  int64_t pid;   /* 0: none */
  int64_t steps; /* complete ones */
} kymo_window_process;

typedef struct kymo_window_page {
  uint32_t version;
  uint32_t processes;              /* entries below, of processes that make steps; some may have ended */
  uint64_t proposal;               /* 0: none */
  int64_t supervisor;              /* its process */
  char database[KYMO_WINDOW_PATH]; /* absolute path, for those who request windows */
  uint64_t requested;              /* steps of the requested window, until it has ended; 0: none */
  int64_t run;                     /* of the last window that was requested and has ended; 0: none */
  kymo_window_process process[KYMO_WINDOW_PROCESSES];
} kymo_window_page;

/* The word `proposal`: the first step, the number of processes that have yet to accept it, and whether it has failed.
 */
static inline uint64_t kymo_proposal(int64_t first_step, uint32_t missing) {
  return (uint64_t)first_step << 20 | (uint64_t)missing << 1;
}
static inline int64_t kymo_proposed_step(uint64_t proposal) { return (int64_t)(proposal >> 20); }
static inline uint32_t kymo_proposal_missing(uint64_t proposal) { return (uint32_t)(proposal >> 1 & 0x7ffff); }
static inline int kymo_proposal_failed(uint64_t proposal) { return (int)(proposal & 1); }

/* At the boundary of a step: whether the proposed window begins here, after `steps` complete steps. `accepted`: the
 * step of the last proposal that this process has accepted; -1: none. */
static inline int kymo_window_begins(uint64_t* proposal, int64_t steps, int64_t* accepted) {
  uint64_t seen = __atomic_load_n(proposal, __ATOMIC_ACQUIRE);
  while (seen != 0 && !kymo_proposal_failed(seen)) {
    const int64_t first_step = kymo_proposed_step(seen);
    const int is_accepted = *accepted == first_step;
    if (is_accepted && steps < first_step) return 0;
    if (is_accepted && kymo_proposal_missing(seen) == 0) return 1;
    const int accepts = steps < first_step;
    if (__atomic_compare_exchange_n(proposal, &seen, accepts ? seen - 2 : seen | 1, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      if (accepts) *accepted = first_step;
      return 0;
    }
  }
  return 0;
}

#ifdef __cplusplus
}
#endif
#endif /* KYMO_EVENT_WINDOW_PAGE_H */
