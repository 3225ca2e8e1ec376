/* SPDX-License-Identifier: Apache-2.0 */
/* The module kymo_trace._program: runs the worker engine in a program that is observed, as a coroutine of the thread
 * that runs the program's steps.
 *
 * The engine has a stack of its own, on which only C and C++ code runs. It calls step() of the only workload, which
 * switches to the program's stack; at the end of the step, the program switches back, step() returns, and the engine
 * records the step and begins the next one. So the engine is the same as for any other workload, and so is the thread.
 * The GIL is held all the time: the engine needs no other Python thread, and no such thread can use a pass that ends.
 */
#include "program.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine_library.h"
#include "memory_categories.h"

enum {
  kStackBytes = 16 << 20, /* reserved; only the pages that are used take memory */
  kMaxOpenPhases = 16,
  kMaxText = 1024
};

typedef enum {
  kNotBegun,
  kServing,  /* the engine runs */
  kStepping, /* the program runs a step */
  kRecorded, /* the pass is complete and its results are stored; the outcome is reported when the program ends */
  kPaused,   /* the pass is complete and its outcome is reported; another one may begin */
  kEnded     /* everything is reported, or the process must not be observed */
} State;

static struct {
  State state;
  ucontext_t program, engine;
  const kymo_engine* library;
  kymo_engine_options options;
  char address[kMaxText], token[kMaxText], root[kMaxText], workload[kMaxText], torch_version[kMaxText];
  unsigned long thread;
  Phase open[kMaxOpenPhases];
  int depth; /* of `open` */
  kymo_status end_status;
  char end_message[kMaxText];
  int ending;
  int has_more;                                    /* another pass may follow */
  int is_complete;                                 /* the results of the pass are stored */
  char final_name[kMaxText], final_text[kMaxText]; /* a metric to store when the pass ends; "" means none */
} self_;

static const char* const phase_names[] = /* by Phase */
    {"data_loading", "forward", "backward", "optimizer"};
static_assert(sizeof phase_names / sizeof *phase_names == kPhases, "each phase has a name");

static void to_program(void) { swapcontext(&self_.engine, &self_.program); }

static void to_engine(void) {
  self_.state = kServing;
  swapcontext(&self_.program, &self_.engine);
}

/* The workload, whose functions the engine calls on its own stack. */

static kymo_status create(const kymo_workload*, const kymo_host* host, kymo_context* context, void** instance) {
  recording_host = host;
  recording_context = context;
  *instance = &self_;
  return KYMO_OK;
}

static kymo_status prepare(void*, kymo_context*) { return KYMO_OK; }

static kymo_status step(void*, kymo_context* context) {
  self_.state = kStepping;
  if (are_steps_recorded()) record_step_begin();
  to_program();
  if (!self_.ending) return KYMO_OK;
  if (self_.end_status == KYMO_OK) return KYMO_ENGINE_PROGRAM_ENDED;
  recording_host->fail(context, self_.end_status, self_.end_message);
  return self_.end_status;
}

static void destroy(void*) {
  if (*self_.final_text)
    recording_host->metric_text(recording_context, KYMO_PER_RUN, self_.final_name, self_.final_text);
  recording_host = NULL;
}

static kymo_parameter parameters[1];
static kymo_workload workload;
static uint32_t workload_count(void) { return 1; }
static const kymo_workload* workload_at(uint32_t index) { return index == 0 ? &workload : NULL; }
static const kymo_plugin plugin = {sizeof plugin, KYMO_ABI_MAJOR, KYMO_ABI_MINOR, "program",
                                   "0",           "libtorch",     workload_count, workload_at};

static const kymo_plugin* load(void*, const char*, const char*, char*, uint64_t) { return &plugin; }

/* Called after the results are stored and before the outcome is sent. Delays the outcome until the program ends, unless
 * another pass may follow. The program flushes its output itself. */
static void flush(void*) {
  recording_host = NULL;
  self_.is_complete = 1;
  if (self_.ending || self_.has_more) return;
  self_.state = kRecorded;
  to_program();
}

static void engine_main(void) {
  self_.library->serve(&self_.options);
  recording_host = NULL;
  self_.state = self_.has_more && self_.is_complete && !self_.ending ? kPaused : kEnded;
  to_program(); /* never resumed */
}

static int prepare_stack(void) {
  static char* stack;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (!stack) stack = mmap(NULL, kStackBytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack + page, kStackBytes, PROT_READ | PROT_WRITE)) {
    PyErr_Format(PyExc_OSError, "no memory for the stack of the engine: %s", strerror(errno));
    return -1;
  }
  getcontext(&self_.engine);
  self_.engine.uc_stack.ss_sp = stack + page; /* the page below is not accessible: an overflow is detected */
  self_.engine.uc_stack.ss_size = kStackBytes;
  self_.engine.uc_link = NULL;
  makecontext(&self_.engine, engine_main, 0);
  return 0;
}

static int copy_text(char* to, const char* from, const char* what) {
  if (strlen(from) < kMaxText) {
    strcpy(to, from);
    return 0;
  }
  PyErr_Format(PyExc_ValueError, "%s is longer than %d bytes", what, kMaxText - 1);
  return -1;
}

static int is_own_thread(void) { return PyThread_get_thread_ident() == self_.thread; }
static int is_stepping(void) { return self_.state == kStepping && is_own_thread(); }
int open_phases(void) { return is_stepping() ? self_.depth : -1; }

static PyObject* begin(PyObject*, PyObject* arguments) {
  static const kymo_engine_plugins plugins = {sizeof plugins, 0, NULL, load, flush};
  const char *engine_file, *root, *address, *token, *name, *torch_version;
  int rank, ranks, has_more;
  long long start_ns;
  if (!PyArg_ParseTuple(arguments, "sssiisLssp:begin", &engine_file, &root, &address, &rank, &ranks, &token, &start_ns,
                        &name, &torch_version, &has_more))
    return NULL;
  if (self_.state != kNotBegun && self_.state != kPaused) {
    PyErr_SetString(PyExc_RuntimeError, "this process has been observed before");
    return NULL;
  }
  if (copy_text(self_.root, root, "the root") || copy_text(self_.address, address, "the address") ||
      copy_text(self_.token, token, "the token") || copy_text(self_.workload, name, "the name") ||
      copy_text(self_.torch_version, torch_version, "the version of torch"))
    return NULL;
  if (!(self_.library = load_engine(engine_file)) || prepare_stack()) return NULL;
  parameters[0] = (kymo_parameter){.size = sizeof parameters[0],
                                   .type = KYMO_TEXT,
                                   .name = "arguments",
                                   .unit = "",
                                   .documentation = "arguments of the program",
                                   .default_value = {.type = KYMO_TEXT, .text = ""}};
  workload = (kymo_workload){.size = sizeof workload,
                             .flags = KYMO_PHASES_ARE_OPTIONAL,
                             .name = self_.workload,
                             .documentation = "",
                             .parameters = parameters,
                             .parameter_count = 1,
                             .phase_count = kPhases,
                             .phases = phase_names,
                             .devices = KYMO_CPU | KYMO_CUDA,
                             .min_ranks = 1,
                             .create = create,
                             .prepare = prepare,
                             .step = step,
                             .destroy = destroy};
  self_.options = (kymo_engine_options){.size = sizeof self_.options,
                                        .rank = rank,
                                        .address = self_.address,
                                        .token = self_.token,
                                        .root = self_.root,
                                        .process_start_ns = start_ns,
                                        .plugins = &plugins,
                                        .ranks = ranks,
                                        .step_records = &step_records,
                                        .torch_version = self_.torch_version};
  self_.thread = PyThread_get_thread_ident();
  self_.has_more = has_more;
  self_.ending = 0;
  self_.is_complete = 0;
  *self_.final_text = '\0';
  to_engine();
  return PyBool_FromLong(self_.state == kStepping);
}

/* Phases do not nest: an inner phase interrupts the outer one. */

static Phase current_phase(void) { return self_.depth > 0 ? self_.open[self_.depth - 1] : kNoPhase; }

static void switch_phase(Phase from, Phase to) {
  if (are_steps_recorded()) {
    record_phase_change(from, to);
  } else {
    if (from != kNoPhase) recording_host->phase_end(recording_context);
    if (to != kNoPhase) recording_host->phase_begin(recording_context, phase_names[to], NULL);
  }
}

/* Ends phases that an exception left open. */
static void end_phases(void) {
  if (self_.depth > 0) switch_phase(current_phase(), kNoPhase);
  self_.depth = 0;
}

int end_step(int engine_is_due) {
  if (!is_stepping()) return 0;
  end_phases();
  if (are_steps_recorded() && record_step_end(engine_is_due)) return 1;
  to_engine();
  return self_.state == kStepping;
}

static PyObject* next_step(PyObject*, PyObject*) {
  return PyBool_FromLong(end_step(1)); /* the engine also stores other records of Python */
}

static PyObject* recorded(PyObject*, PyObject*) { return PyBool_FromLong(self_.state == kRecorded); }

static PyObject* paused(PyObject*, PyObject*) { return PyBool_FromLong(self_.state == kPaused); }

static PyObject* end(PyObject*, PyObject* arguments) {
  int status;
  const char* message;
  if (!PyArg_ParseTuple(arguments, "is:end", &status, &message)) return NULL;
  if (self_.state == kNotBegun || self_.state == kPaused) self_.state = kEnded;
  if (self_.state == kEnded || !is_own_thread()) Py_RETURN_NONE;
  if (self_.state == kStepping) end_phases();
  self_.ending = 1;
  self_.end_status = status;
  PyOS_snprintf(self_.end_message, sizeof self_.end_message, "%s", message);
  to_engine();
  Py_RETURN_NONE;
}

static PyObject* reset(PyObject*, PyObject*) {
  if (self_.state == kEnded) self_.state = kNotBegun;
  Py_RETURN_NONE;
}

static PyObject* disarm(PyObject*, PyObject*) {
  self_.state = kEnded;
  recording_host = NULL;
  Py_RETURN_NONE;
}

int begin_phase(Phase phase) {
  if (!is_stepping() || self_.depth == kMaxOpenPhases) return 0;
  switch_phase(current_phase(), phase);
  self_.open[self_.depth++] = phase;
  return 1;
}

void end_phase(void) {
  if (!is_stepping() || self_.depth == 0) return;
  const Phase ended = current_phase();
  --self_.depth;
  switch_phase(ended, current_phase());
}

static PyObject* phase_begin(PyObject*, PyObject* index) {
  const long phase = PyLong_AsLong(index);
  if (PyErr_Occurred()) return NULL;
  const int begun = phase >= 0 && phase <= kNoPhase && begin_phase((Phase)phase);
  if (begun) record_effect((Phase)phase);
  return PyBool_FromLong(begun);
}

static PyObject* phase_end(PyObject*, PyObject*) {
  end_phase();
  record_effect(kPhaseEnds);
  Py_RETURN_NONE;
}

static PyObject* final_metric(PyObject*, PyObject* arguments) {
  const char *name, *text;
  if (!PyArg_ParseTuple(arguments, "ss:final_metric", &name, &text)) return NULL;
  if (copy_text(self_.final_name, name, "the name") || copy_text(self_.final_text, text, "the text")) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"begin", begin, METH_VARARGS,
     "begin(engine, root, address, rank, ranks, token, process_start_ns, workload, torch_version, has_more) -> bool: "
     "connects to the supervisor and begins a pass on this thread; has_more: another one may follow. True if a step "
     "has begun. Raises OSError or RuntimeError if the engine cannot be used."},
    {"next_step", next_step, METH_NOARGS, "next_step() -> bool: ends a step. True if another one has begun."},
    {"recorded", recorded, METH_NOARGS,
     "recorded() -> bool: whether the last pass is complete. False if another process is observed instead."},
    {"paused", paused, METH_NOARGS, "paused() -> bool: whether the pass is complete and another one may begin"},
    {"end", end, METH_VARARGS,
     "end(status, message): the program ends. With OK, an incomplete pass ends early; otherwise it fails."},
    {"reset", reset, METH_NOARGS, "reset(): after end(), allows another pass to begin."},
    {"disarm", disarm, METH_NOARGS, "disarm(): for a fork of the observed process, which is not observed."},
    {"phase_begin", phase_begin, METH_O, "phase_begin(index) -> bool: whether a phase has begun, for phase_end()"},
    {"phase_end", phase_end, METH_NOARGS, "phase_end()"},
    {"final_metric", final_metric, METH_VARARGS,
     "final_metric(name, text): sets the metric of the run that is stored when the pass ends; none if the text is "
     "empty. Lost if the process is killed."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "kymo_trace._program",
                                        "Observes the program of this process with kymo's worker engine.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

#define ADD(name) PyModule_AddIntConstant(module, #name, KYMO_##name)
static int add_constants(PyObject* module) {
  return ADD(OK) || ADD(FAILED) || ADD(OUT_OF_MEMORY) || ADD(PER_RUN) || ADD(PER_STEP) || ADD(COMPILATION) ||
         ADD(RECOMPILATION) || ADD(BACKWARD_COMPILATION) || ADD(RUNTIME_COMPILATION) || ADD(FAILED_COMPILATION) ||
         ADD(GRAPH_BREAK);
}

PyMODINIT_FUNC PyInit__program(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module && !PyModule_AddFunctions(module, scope_functions) && !PyModule_AddFunctions(module, step_functions) &&
      !PyModule_AddFunctions(module, window_functions) && !PyModule_AddFunctions(module, record_functions) &&
      !add_event_functions(module) && !add_constants(module) && !add_memory_categories(module))
    return module;
  Py_XDECREF(module);
  return NULL;
}
