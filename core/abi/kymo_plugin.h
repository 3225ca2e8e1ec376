/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boundary between kymo and a workload plugin: plain C, no tensor, no C++ type, no exception.
 *
 * A plugin file holds two things: an ELF note (section .note.kymo, struct kymo_note), which is read
 * without loading the file, and one exported function, kymo_plugin_v1, which returns its table.
 *
 * Each function is tagged with the thread that may call it and the state it may be called in:
 *   [main]    the one thread that drives the workload
 *   [any]     any thread of the process
 *   [prepare] [step] [verify]   only while that function of the workload runs
 * Memory: a pointer handed over by one side stays owned by that side. Strings are UTF-8.
 *
 * Growth: structs carry their size; fields are appended, never moved, and never change their meaning.
 * The same major and a plugin minor not above the host's are required.
 */
#ifndef KYMO_PLUGIN_H
#define KYMO_PLUGIN_H

#include <stdint.h>

#include "kymo_note.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KYMO_ABI_MAJOR 1
#define KYMO_ABI_MINOR 1
#define KYMO_ENTRY_SYMBOL "kymo_plugin_v1"

typedef int32_t kymo_status;
enum {
  KYMO_OK = 0,
  KYMO_FAILED = 1,        /* the message given to fail() says why */
  KYMO_OUT_OF_MEMORY = 2, /* host or device */
  KYMO_SKIPPED = 3        /* skip() was called: this case makes no sense here */
};

enum { KYMO_INT = 1, KYMO_REAL = 2, KYMO_BOOL = 3, KYMO_TEXT = 4, KYMO_CHOICE = 5 };
enum { KYMO_CPU = 1, KYMO_CUDA = 2 }; /* bits of kymo_workload.devices */
enum { KYMO_PER_RUN = 0, KYMO_PER_STEP = 1, KYMO_PER_PHASE = 2 };
enum { KYMO_LOG_DEBUG = 0, KYMO_LOG_INFO = 1, KYMO_LOG_WARNING = 2, KYMO_LOG_ERROR = 3 };
/* What a memory block is, for tag(). */
enum {
  KYMO_PARAMETER = 1,
  KYMO_GRADIENT = 2,
  KYMO_OPTIMIZER_STATE = 3,
  KYMO_ACTIVATION = 4,
  KYMO_WORKSPACE = 5,
  KYMO_INPUT = 6
};
enum { KYMO_ALL_REDUCE = 1, KYMO_REDUCE_SCATTER = 2, KYMO_ALL_GATHER = 3, KYMO_BROADCAST = 4, KYMO_BARRIER = 5 };
enum { KYMO_CHECK_PASSED = 1, KYMO_CHECK_FAILED = 2, KYMO_CHECK_UNAVAILABLE = 3 };
enum { KYMO_STEP_IS_ASYNCHRONOUS = 1 }; /* bits of kymo_workload.flags */

/* A typed value. `type` names the live member; choices travel as text. */
typedef struct kymo_value {
  uint32_t type;
  int32_t boolean;
  int64_t integer;
  double real;
  const char* text;
} kymo_value;

/* One parameter of a workload. */
typedef struct kymo_parameter {
  uint32_t size; /* sizeof(kymo_parameter) */
  uint32_t type;
  const char* name;
  const char* unit; /* may be empty */
  const char* documentation;
  kymo_value default_value;
  int32_t has_minimum, has_maximum; /* bounds hold for KYMO_INT and KYMO_REAL, and are inclusive */
  double minimum, maximum;
  const char* const* choices; /* KYMO_CHOICE: the admitted texts */
  uint32_t choice_count, axis_count;
  const char* const* axis; /* values worth sweeping over, written as on the command line */
} kymo_parameter;

/* Where this process stands in its run. */
typedef struct kymo_placement {
  uint32_t size;                        /* sizeof(kymo_placement) */
  int32_t rank, world_size, local_rank; /* local_rank counts the ranks of this rank's machine */
  int32_t device;                       /* KYMO_CPU or KYMO_CUDA */
  int32_t device_index;        /* CUDA device ordinal in this process; it may differ from local_rank. 0 on KYMO_CPU */
  const char* rendezvous_host; /* address for the ranks of this run to meet at */
  uint32_t rendezvous_port;    /* 0 when world_size is 1 */
} kymo_placement;

/* One collective call, for collective_begin(). */
typedef struct kymo_collective {
  uint32_t size; /* sizeof(kymo_collective) */
  uint32_t operation;
  uint64_t bytes; /* payload of this rank */
  void* stream;   /* cudaStream_t of its work, cudaStreamLegacy for 0: when it ran is seen on the device. NULL: it ran
                     from begin to end */
  const char* communicator; /* its name, the same on all its ranks; NULL for the only one */
  uint64_t
      sequence; /* counts its calls from 0, the same on all its ranks; where `size` ends before it, the host counts */
} kymo_collective;

/* One comparison with a reference. */
typedef struct kymo_check {
  uint32_t size;    /* sizeof(kymo_check) */
  uint32_t outcome; /* KYMO_CHECK_* */
  const char* name;
  const char* reference; /* what it was compared with */
  const char* detail;    /* may be empty */
  double max_abs_error, max_rel_error, tolerance;
} kymo_check;

typedef struct kymo_verification {
  uint32_t size; /* sizeof(kymo_verification), set by the host */
  uint32_t check_count;
  const kymo_check* checks; /* owned by the instance, valid until its next call */
} kymo_verification;

typedef struct kymo_context kymo_context; /* opaque, owned by the host */
/* The services of the host. A NULL function is a service that this pass does not need: do nothing.
 * Names and texts handed to a service are copied before it returns. */
typedef struct kymo_host {
  uint32_t size; /* sizeof(kymo_host) */
  uint16_t abi_major, abi_minor;
  /* [main] The value of a declared parameter; KYMO_FAILED if there is none of that name. Text is owned by the host for
   * the run. */
  kymo_status (*parameter)(kymo_context*, const char* name, kymo_value* out);
  /* [any] Never NULL; valid for the run. */
  const kymo_placement* (*placement)(kymo_context*);
  /* [any] The seed of this run, the same on every rank. */
  uint64_t (*seed)(kymo_context*);
  /* [main, step] Phases tile a step and never nest; `stream` is the cudaStream_t the phase's work is queued on. */
  kymo_status (*phase_begin)(kymo_context*, const char* name, void* stream);
  kymo_status (*phase_end)(kymo_context*);
  /* [any, step] Scopes nest, each begin and end on one thread. */
  void (*scope_begin)(kymo_context*, const char* name);
  void (*scope_end)(kymo_context*);
  /* [main, prepare] What one step's phase does, by count: floating-point operations and bytes moved (0 = not declared).
   */
  void (*work)(kymo_context*, const char* phase, double flops, double bytes);
  /* [any] A figure of the workload's own; `level` is KYMO_PER_*. */
  void (*metric_number)(kymo_context*, uint32_t level, const char* name, double value, const char* unit);
  void (*metric_text)(kymo_context*, uint32_t level, const char* name, const char* value);
  /* [any] A named moment on the memory timeline. */
  void (*mark)(kymo_context*, const char* name);
  /* [any] Says what the block at `address` holds (KYMO_PARAMETER ...). */
  void (*tag)(kymo_context*, const void* address, uint64_t bytes, uint32_t category);
  /* [any] Brackets a collective. Any thread may call end: with a stream once it is queued (a group: once all is), else
   * once it is done. */
  uint64_t (*collective_begin)(kymo_context*, const kymo_collective*);
  void (*collective_end)(kymo_context*, uint64_t handle);
  /* [main] Gathers `bytes` from each rank, in rank order, into recv (bytes × world_size). Not for timed code. */
  kymo_status (*all_gather_bytes)(kymo_context*, const void* send, uint64_t bytes, void* recv);
  /* [any] */
  void (*log)(kymo_context*, uint32_t level, const char* message);
  /* [main] Says why this case makes no sense here; return KYMO_SKIPPED afterwards. */
  void (*skip)(kymo_context*, const char* reason);
  /* [main] Says what went wrong before KYMO_FAILED or KYMO_OUT_OF_MEMORY is returned. */
  void (*fail)(kymo_context*, kymo_status status, const char* message);
  /* [any] Non-zero once the run is to end: return soon. */
  int32_t (*cancelled)(kymo_context*);
} kymo_host;

/* One workload. All functions return a kymo_status; after any but KYMO_OK only destroy is called. */
typedef struct kymo_workload {
  uint32_t size; /* sizeof(kymo_workload) */
  uint32_t flags;
  const char* name; /* [a-z][a-z0-9_]* */
  const char* documentation;
  const kymo_parameter* parameters;
  uint32_t parameter_count;
  uint32_t phase_count;
  const char* const* phases; /* in the order of the step */
  uint32_t devices;          /* KYMO_CPU | KYMO_CUDA */
  uint32_t min_ranks;
  uint32_t max_ranks; /* 0 = no bound */
  uint32_t reserved;
  /* [main] Makes an instance; nothing heavy happens here. */
  kymo_status (*create)(const kymo_host*, kymo_context*, void** instance);
  /* [main] Allocates, initialises, declares work. Never timed. */
  kymo_status (*prepare)(void* instance, kymo_context*);
  /* [main] Before each step, never timed: draw a batch, flush a cache. */
  kymo_status (*before_step)(void* instance, kymo_context*);
  /* [main] One repetition, timed. */
  kymo_status (*step)(void* instance, kymo_context*);
  /* [main] Compares with a reference, never timed. */
  kymo_status (*verify)(void* instance, kymo_context*, kymo_verification* out);
  /* [main] Frees the instance. */
  void (*destroy)(void* instance);
} kymo_workload;

typedef struct kymo_plugin {
  uint32_t size; /* sizeof(kymo_plugin) */
  uint16_t abi_major, abi_minor;
  const char* name;
  const char* version;
  const char* framework; /* as in the note */
  /* [main] */
  uint32_t (*workload_count)(void);
  /* [main] Valid as long as the library is loaded; NULL if out of range. */
  const kymo_workload* (*workload)(uint32_t index);
  /* [main] An extension by its name ("kymo.NAME/REVISION"), or NULL. */
  const void* (*get_extension)(const char* id);
} kymo_plugin;

/* [main] The one symbol that a plugin exports. */
typedef const kymo_plugin* (*kymo_plugin_entry)(void);

#ifdef __cplusplus
}
#endif
#endif /* KYMO_PLUGIN_H */
