/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C interface between the kymo host and a workload plugin. Tensors, C++ types and exceptions never cross it.
 *
 * A plugin is a shared library that contains an ELF note (section .note.kymo, struct kymo_note), which the
 * host reads without loading the library, and one exported function, kymo_plugin_v2, which returns the
 * plugin's function table.
 *
 * The tags of each function state which thread may call it, and when:
 *   [main]                      the thread that drives the workload
 *   [any]                       any thread of the process
 *   [prepare] [step] [verify]   only during a call of that workload function
 *
 * Memory: the side that passes a pointer keeps ownership of it. Strings are UTF-8.
 *
 * Compatibility: a new minor version only appends fields to structs that begin with their size; existing fields
 * never move or change their meaning. The host reads an appended field of a plugin's struct only if the size of
 * the struct includes it, and a plugin uses the fields of the minor version that it was built for. A plugin loads
 * if its major version equals the host's and its minor version is not greater than the host's.
 */
#ifndef KYMO_PLUGIN_H
#define KYMO_PLUGIN_H

#include <stdint.h>

#include "kymo_note.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KYMO_ABI_MAJOR 2
#define KYMO_ABI_MINOR 1
#define KYMO_ENTRY_SYMBOL "kymo_plugin_v2"

typedef int32_t kymo_status;
enum {
  KYMO_OK = 0,
  KYMO_FAILED = 1,        /* the reason was passed to fail() */
  KYMO_OUT_OF_MEMORY = 2, /* host or device */
  KYMO_SKIPPED = 3        /* skip() was called: the case is not applicable */
};

enum { KYMO_INT = 1, KYMO_REAL = 2, KYMO_BOOL = 3, KYMO_TEXT = 4, KYMO_CHOICE = 5 };
enum { KYMO_CPU = 1, KYMO_CUDA = 2 }; /* bits of kymo_workload.devices */
enum { KYMO_PER_RUN = 0, KYMO_PER_STEP = 1, KYMO_PER_PHASE = 2 };
enum { KYMO_LOG_DEBUG = 0, KYMO_LOG_INFO = 1, KYMO_LOG_WARNING = 2, KYMO_LOG_ERROR = 3 };
/* Memory block categories for tag(), KYMO_PARAMETER = 1 and so on: names in C, in C++, and in databases, and titles in
 * reports, which show them in this order. Add others at the end. COMMUNICATION: buffers of collectives, and parameters
 * and gradients that they gather or will reduce; the tag has no effect on a block with another tag. */
#define KYMO_MEMORY_CATEGORIES(X)                                          \
  X(PARAMETER, Parameter, "parameter", "parameters")                       \
  X(GRADIENT, Gradient, "gradient", "gradients")                           \
  X(OPTIMIZER_STATE, OptimizerState, "optimizer_state", "optimizer state") \
  X(ACTIVATION, Activation, "activation", "activations")                   \
  X(WORKSPACE, Workspace, "workspace", "workspace")                        \
  X(INPUT, Input, "input", "inputs")                                       \
  X(COMMUNICATION, Communication, "communication", "communication")
#define KYMO_MEMORY_CATEGORY(NAME, ...) KYMO_##NAME,
enum { KYMO_NO_CATEGORY = 0, KYMO_MEMORY_CATEGORIES(KYMO_MEMORY_CATEGORY) };
#undef KYMO_MEMORY_CATEGORY
enum { KYMO_ALL_REDUCE = 1, KYMO_REDUCE_SCATTER = 2, KYMO_ALL_GATHER = 3, KYMO_BROADCAST = 4, KYMO_BARRIER = 5 };
enum { KYMO_REDUCE = 6, KYMO_GATHER = 7, KYMO_SCATTER = 8, KYMO_ALL_TO_ALL = 9, KYMO_SEND = 10, KYMO_RECEIVE = 11 };
enum { KYMO_LIBRARY_CALLS = 100 }; /* calls between begin and end that kymo records: for collective_needed() */
enum { KYMO_CHECK_PASSED = 1, KYMO_CHECK_FAILED = 2, KYMO_CHECK_UNAVAILABLE = 3 };
/* Kinds of kymo_compilation. */
enum {
  KYMO_COMPILATION = 1,          /* of code that was not compiled before */
  KYMO_RECOMPILATION = 2,        /* because what was compiled does not apply to these inputs */
  KYMO_BACKWARD_COMPILATION = 3, /* of a backward pass, when it runs first */
  KYMO_RUNTIME_COMPILATION = 4,  /* while compiled code runs: autotuning, recording of CUDA graphs */
  KYMO_FAILED_COMPILATION = 5,   /* the code runs without being compiled */
  KYMO_GRAPH_BREAK = 6           /* code that the compiler leaves out; takes no time itself */
};
/* Bits of kymo_workload.flags. */
enum {
  KYMO_STEP_IS_ASYNCHRONOUS = 1, /* a step only queues work on the device and never waits for it */
  KYMO_PHASES_ARE_OPTIONAL = 2   /* the parameters decide which of the phases a step enters */
};
/* Bits of kymo_parameter.flags. */
enum {
  KYMO_TITLE_AT_DEFAULT = 1, /* titles also contain the parameter at its default value */
  KYMO_SETTING = 2 /* runs are compared only if they agree on the parameter; it does not distinguish variants */
};

/* A typed value. `type` selects the active member; a KYMO_CHOICE value is stored in `text`. */
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
  int32_t has_minimum, has_maximum; /* for KYMO_INT and KYMO_REAL; both bounds are inclusive */
  double minimum, maximum;
  const char* const* choices; /* KYMO_CHOICE: allowed values */
  uint32_t choice_count, axis_count;
  const char* const* axis; /* suggested values for a sweep, in command-line syntax */
  const char* title; /* how titles of runs show the value, with {} for the value: "{} MiB". Titles separate parts with
                        commas, except parts that begin with a space. NULL or empty: not part of titles */
  uint32_t flags;    /* KYMO_TITLE_AT_DEFAULT | KYMO_SETTING */
  uint32_t reserved;
} kymo_parameter;

/* Rank, device and rendezvous address of this process. */
typedef struct kymo_placement {
  uint32_t size;                        /* sizeof(kymo_placement) */
  int32_t rank, world_size, local_rank; /* local_rank: index among the ranks on this host */
  int32_t device;                       /* KYMO_CPU or KYMO_CUDA */
  int32_t device_index;        /* CUDA device ordinal in this process, may differ from local_rank; 0 for KYMO_CPU */
  const char* rendezvous_host; /* address of the rendezvous server for all ranks of the run */
  uint32_t rendezvous_port;    /* 0 when world_size is 1 */
  int32_t on_meta; /* 1: memory is predicted by this process alone: create tensors without memory (LibTorch: meta) */
} kymo_placement;

/* A collective call, for collective_begin(). */
typedef struct kymo_collective {
  uint32_t size; /* sizeof(kymo_collective) */
  uint32_t operation;
  uint64_t bytes; /* payload size on this rank */
  void* stream;   /* cudaStream_t that the work is queued on; its execution time is measured on the device. Pass
                     cudaStreamLegacy for the default stream. NULL: the work runs on the host between begin and end */
  const char* communicator; /* communicator name, identical on all of its ranks; NULL if there is only one */
  uint64_t sequence; /* index of this call in its communicator, from 0, identical on all ranks. If `size` excludes
                        this field, the host counts the calls */
} kymo_collective;

/* What a compiler of the framework did while the workload ran, for compilation(). Strings may be empty, not NULL. */
typedef struct kymo_compilation {
  uint32_t size;        /* sizeof(kymo_compilation) */
  uint32_t kind;        /* KYMO_COMPILATION ... */
  int64_t step;         /* of this pass; -1 before its first step */
  int64_t program_step; /* of an observed program, from 0; -1 before its first step. Otherwise as `step` */
  int64_t start_ns;     /* CLOCK_MONOTONIC_RAW */
  int64_t duration_ns;
  int64_t inductor_ns; /* part of it that generates kernels and compiles them; -1 if unknown */
  const char* function;
  const char* file; /* path of the source file */
  int64_t line;     /* 0 if unknown */
  const char* reason;
} kymo_compilation;

/* Result of one comparison with a reference. */
typedef struct kymo_check {
  uint32_t size;    /* sizeof(kymo_check) */
  uint32_t outcome; /* KYMO_CHECK_* */
  const char* name;
  const char* reference; /* name of the reference */
  const char* detail;    /* may be empty */
  double max_abs_error, max_rel_error, tolerance;
} kymo_check;

typedef struct kymo_verification {
  uint32_t size; /* sizeof(kymo_verification), set by the host */
  uint32_t check_count;
  const kymo_check* checks; /* owned by the instance; valid until the next call of one of its functions */
} kymo_verification;

/* Opaque handle, owned by the host. */
typedef struct kymo_context kymo_context;

/* Functions that the host provides. A function is NULL if the current pass does not use it; do not call it then.
 * The host copies all strings before a function returns. */
typedef struct kymo_host {
  uint32_t size; /* sizeof(kymo_host) */
  uint16_t abi_major, abi_minor;
  /* [main] Gets the value of a declared parameter. Returns KYMO_FAILED if there is no parameter with that name. The
   * host owns out->text, which is valid until the run ends. */
  kymo_status (*parameter)(kymo_context*, const char* name, kymo_value* out);
  /* [any] Returns the placement of this process. Never NULL; valid until the run ends. */
  const kymo_placement* (*placement)(kymo_context*);
  /* [any] Returns the random seed of the run, identical on all ranks. */
  uint64_t (*seed)(kymo_context*);
  /* [main, step] Begins or ends a phase. Phases partition a step and do not nest. `stream` is the cudaStream_t that the
   * work of the phase is queued on. Also on another thread while the main thread waits for it, such as one of autograd
   * that interrupts the backward phase to recompute activations. */
  kymo_status (*phase_begin)(kymo_context*, const char* name, void* stream);
  kymo_status (*phase_end)(kymo_context*);
  /* [any, step] Begins or ends a scope. Scopes nest. Begin and end a scope on the same thread. */
  void (*scope_begin)(kymo_context*, const char* name);
  void (*scope_end)(kymo_context*);
  /* [main, prepare] Declares the floating-point operations and the bytes of memory traffic of one phase, per step.
   * 0 means not declared. */
  void (*work)(kymo_context*, const char* phase, double flops, double bytes);
  /* [any] Records a workload-defined metric; `level` is one of KYMO_PER_*. */
  void (*metric_number)(kymo_context*, uint32_t level, const char* name, double value, const char* unit);
  void (*metric_text)(kymo_context*, uint32_t level, const char* name, const char* value);
  /* [any] Marks the current time on the memory timeline. */
  void (*mark)(kymo_context*, const char* name);
  /* [any] Sets the category (KYMO_PARAMETER ...) of the memory block at `address`. */
  void (*tag)(kymo_context*, const void* address, uint64_t bytes, uint32_t category);
  /* [any] Reports a collective call. Pass the handle returned by begin to end. Call end, from any thread, when the work
   * is queued (for a group: when all of its work is queued) if a stream was given, otherwise when the work is
   * complete. */
  uint64_t (*collective_begin)(kymo_context*, const kymo_collective*);
  void (*collective_end)(kymo_context*, uint64_t handle);
  /* [main] Gathers `bytes` bytes from each rank into `recv`, in rank order; `recv` holds bytes × world_size bytes.
   * Do not call it in timed code. */
  kymo_status (*all_gather_bytes)(kymo_context*, const void* send, uint64_t bytes, void* recv);
  /* [any] Writes a message to the log of the run; `level` is one of KYMO_LOG_*. */
  void (*log)(kymo_context*, uint32_t level, const char* message);
  /* [main] Sets the reason why the case is not applicable. Return KYMO_SKIPPED afterwards. */
  void (*skip)(kymo_context*, const char* reason);
  /* [main] Sets the error message. Call it before returning KYMO_FAILED or KYMO_OUT_OF_MEMORY, or in destroy. */
  void (*fail)(kymo_context*, kymo_status status, const char* message);
  /* [any] Returns non-zero if the run is being cancelled; the workload should then return promptly. */
  int32_t (*cancelled)(kymo_context*);
  /* [main, prepare] Declares the floating-point operations and the bytes of memory traffic of one call of an operator
   * of the framework, such as "mylib::scale". `arguments` are those of the calls as table op shows them, or NULL for
   * all calls. */
  void (*operator_work)(kymo_context*, const char* name, const char* arguments, double flops, double bytes);
  /* [any] Records a compilation or a graph break. */
  void (*compilation)(kymo_context*, const kymo_compilation*);
  /* [any] Reports, before the calling thread waits for a collective call or makes its stream wait, that it needs the
   * result; the call may have ended. `by` names what does; NULL: the open scope. The first report of a call counts. */
  void (*collective_needed)(kymo_context*, uint64_t handle, const char* by);
} kymo_host;

/* A workload. After a function returns a status other than KYMO_OK, the host only calls destroy. */
typedef struct kymo_workload {
  uint32_t size; /* sizeof(kymo_workload) */
  uint32_t flags;
  const char* name; /* [a-z][a-z0-9_]* */
  const char* documentation;
  const char* title;  /* begins the titles of runs; NULL: the name; empty: titles contain only parameters */
  const char* family; /* workloads that reports compare, named like a workload; NULL or empty: none */
  const kymo_parameter* parameters;
  uint32_t parameter_count;
  uint32_t phase_count;
  const char* const* phases; /* in execution order */
  uint32_t devices;          /* KYMO_CPU | KYMO_CUDA */
  uint32_t min_ranks;
  uint32_t max_ranks;    /* 0: no maximum */
  uint32_t family_order; /* sort order within the family; the workload with 0 is the baseline */
  /* [main] Creates an instance of this workload. The pointer is the one that kymo_plugin.workload returned: workloads
   * that share a function can be told apart by it, or by the fields that follow the table in a struct of the plugin.
   * Do expensive work in prepare. */
  kymo_status (*create)(const struct kymo_workload*, const kymo_host*, kymo_context*, void** instance);
  /* [main] Allocates memory, initializes it and declares work. Not timed. */
  kymo_status (*prepare)(void* instance, kymo_context*);
  /* [main] Runs before each step, for example to draw a batch or flush a cache. Not timed. */
  kymo_status (*before_step)(void* instance, kymo_context*);
  /* [main] Runs one step. Timed. */
  kymo_status (*step)(void* instance, kymo_context*);
  /* [main] Compares the results with a reference. Not timed. */
  kymo_status (*verify)(void* instance, kymo_context*, kymo_verification* out);
  /* [main] Frees the instance. If it calls fail(), the run ends as failed. */
  void (*destroy)(void* instance);
} kymo_workload;

typedef struct kymo_plugin {
  uint32_t size; /* sizeof(kymo_plugin) */
  uint16_t abi_major, abi_minor;
  const char* name;
  const char* version;
  const char* framework; /* same value as in kymo_note */
  /* [main] Returns the number of workloads. */
  uint32_t (*workload_count)(void);
  /* [main] Returns a workload, or NULL if `index` is out of range. Valid while the library is loaded. */
  const kymo_workload* (*workload)(uint32_t index);
} kymo_plugin;

/* [main] Type of kymo_plugin_v2, the only symbol that a plugin exports. */
typedef const kymo_plugin* (*kymo_plugin_entry)(void);

/*
 * Emits the ELF note of a plugin written in C. Use it once, at file scope, with string literals:
 *   KYMO_PLUGIN_NOTE("", "", "");                     no framework
 *   KYMO_PLUGIN_NOTE("libtorch", "2.11.0", "13.0");   LibTorch and its CUDA version
 * C++ plugins use KYMO_EXPORT_WORKLOADS of the SDK instead.
 */
#define KYMO_PLUGIN_NOTE(framework, framework_version, cuda_version)                                                   \
  static const struct {                                                                                                \
    uint32_t name_size, content_size, type;                                                                            \
    char name[8];                                                                                                      \
    kymo_note content;                                                                                                 \
  } kymo_note_of_this_plugin __attribute__((used, section(".note.kymo"), aligned(4))) = {                              \
      sizeof KYMO_NOTE_NAME,                                                                                           \
      sizeof(kymo_note),                                                                                               \
      KYMO_NOTE_TYPE,                                                                                                  \
      KYMO_NOTE_NAME,                                                                                                  \
      {KYMO_NOTE_MAGIC, sizeof(kymo_note), KYMO_ABI_MAJOR, KYMO_ABI_MINOR, framework, framework_version, cuda_version, \
       "cc " KYMO_STRINGIFY(__GNUC__), "cxx11"}}
#define KYMO_STRINGIFY(text) KYMO_STRINGIFY_EXPANDED(text)
#define KYMO_STRINGIFY_EXPANDED(text) #text

#ifdef __cplusplus
}
#endif
#endif /* KYMO_PLUGIN_H */
