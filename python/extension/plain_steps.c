/* SPDX-License-Identifier: Apache-2.0 */
/* The calls, backward passes and optimizer steps of a program: the phases that they begin, and where a step ends.
 *
 * In general, Python decides that (_steps.py). But a Python function that a step calls once costs it about 1 µs,
 * because its code and data are not in the processor's caches, and _steps.py has a dozen. So once a program is known to
 * have a single optimizer, and while no scopes are recorded, its steps are followed here: a step ends at the first root
 * call after a step of that optimizer. Before the steps to observe, they are only counted, and have no phases. Whatever
 * is not plain is handed over to Python, with what is open.
 */
#include "program.h"

static struct {
  enum { kGeneral, kCounted, kFollowed } mode; /* kGeneral: all goes to Python */
  const void* optimizer;
  long left;             /* the boundary after which all goes to Python, from here */
  long count;            /* boundaries so far */
  int stepped;           /* the optimizer, since the last boundary */
  int loaded;            /* a batch, since its last step */
  int stepping;          /* depth of its steps, which may call those of its base class */
  int loading, backward; /* depths */
  int closures;          /* the same, of those that the optimizer calls */
  int direct;            /* a backward pass begins, and no call of a module was its forward pass */
} steps;

static PyObject* observation;                              /* has the methods that are called below */
static PyObject *tracing, *graph_module, *tracing_context; /* the last one is the name of the attribute */
static PyObject* main_tracing;                             /* the attributes of `tracing` on the main thread */
static int root_is_followed, root_in_phase;                /* of the call outside of other modules on the main thread */

/* What the beginning of a region returns, for its end. */
enum { kUnobserved, kWithoutPhase, kInPhase, kPythonWithoutPhase, kPythonInPhase };

/* Calls a method of the observation. 1 or 0: its result; -1 with an exception set. */
static int call(const char* method, PyObject* argument) {
  PyObject* result = PyObject_CallMethod(observation, method, argument ? "O" : NULL, argument);
  const int is_true = result ? PyObject_IsTrue(result) : -1;
  Py_XDECREF(result);
  return is_true;
}

/* 0, or -1 with an exception set. */
static int hand_over(void) {
  steps.mode = kGeneral;
  PyObject* result =
      PyObject_CallMethod(observation, "take_over", "liiiiiii", steps.count, steps.stepped, steps.stepping,
                          steps.loaded, steps.loading, steps.backward, steps.closures, steps.direct);
  steps.count = 0;
  Py_XDECREF(result);
  return result ? 0 : -1;
}

/* `tracing` is a threading.local: its attribute __dict__ is the same dict as long as the thread exists, and a look at
 * it touches less memory than one at an attribute. */
static int main_thread_traces(void) {
  if (!main_tracing) main_tracing = PyObject_GetAttrString(tracing, "__dict__");
  PyObject* context = main_tracing ? PyDict_GetItemWithError(main_tracing, tracing_context) : NULL; /* borrowed */
  if (!context) PyErr_Clear();
  return context && context != Py_None;
}

/* Whether torch calls functions of the program to compile them. */
static int torch_traces(void) {
  if (is_main_thread()) return main_thread_traces();
  PyObject* context = PyObject_GetAttr(tracing, tracing_context);
  if (!context) PyErr_Clear(); /* the attribute exists only in threads that have traced */
  const int traces = context && context != Py_None;
  Py_XDECREF(context);
  return traces;
}

static RootCall followed_root(PyObject* module, int is_boundary) {
  if (torch_traces()) return kNotObserved;
  const int is_graph = steps.backward ? PyObject_IsInstance(module, graph_module) : 0; /* what Dynamo has compiled */
  if (is_graph) return is_graph < 0 ? kRaised : kNotObserved;
  root_is_followed = 1;
  root_in_phase = 0;
  if (is_boundary) {
    ++steps.count;
    steps.stepped = 0;
    if (!end_step(0) && (hand_over() || call("pass_ends", NULL) < 0)) return kRaised;
  }
  if (!steps.loading && !steps.backward) root_in_phase = begin_phase(kForward);
  return kObserved;
}

RootCall root_begins(PyObject* module) {
  if (steps.mode != kGeneral) {
    if (!is_main_thread()) return kNotObserved;
    /* Not a boundary: modules that transform a data set, or are called again within a backward pass. */
    const int is_boundary = steps.stepped && !steps.loading && !steps.backward;
    const int is_python_due = is_boundary && (steps.stepping || --steps.left <= 0 ||
                                              (steps.mode == kCounted && requested_window_begins(steps.count + 1)));
    if (!is_python_due && steps.mode == kFollowed) return followed_root(module, is_boundary);
    if (!is_python_due) {
      steps.count += is_boundary;
      steps.stepped = 0;
      return kNotObserved;
    }
    if (hand_over()) return kRaised;
  }
  root_is_followed = 0;
  const int is_observed = call("root_begins", module);
  return is_observed < 0 ? kRaised : is_observed ? kObserved : kNotObserved;
}

int root_ends(void) {
  if (!root_is_followed) return call("root_ends", NULL) < 0 ? -1 : 0;
  if (root_in_phase) end_phase();
  root_is_followed = root_in_phase = 0;
  return 0;
}

static PyObject* region_begins(int* depth, Phase phase, const char* method) {
  if (!is_main_thread() || steps.mode == kCounted) return PyLong_FromLong(kUnobserved);
  if (steps.mode == kFollowed) return PyLong_FromLong(++*depth == 1 && begin_phase(phase) ? kInPhase : kWithoutPhase);
  const int in_phase = call(method, NULL);
  return in_phase < 0 ? NULL : PyLong_FromLong(in_phase ? kPythonInPhase : kPythonWithoutPhase);
}

static PyObject* region_ends(int* depth, const char* method, PyObject* begun) {
  const long kind = PyLong_AsLong(begun);
  if (PyErr_Occurred()) return NULL;
  const int in_phase = kind == kInPhase || kind == kPythonInPhase;
  if (steps.mode == kFollowed && (kind == kInPhase || kind == kWithoutPhase)) {
    --*depth;
    if (in_phase) end_phase();
  } else if (kind != kUnobserved && call(method, in_phase ? Py_True : Py_False) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* backward_begins(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  if (steps.mode != kCounted && torch_traces()) return PyLong_FromLong(kUnobserved);
  if (is_main_thread() && steps.mode != kGeneral && steps.stepped && !steps.backward) {
    steps.direct = 1;
    if (hand_over()) return NULL;
  }
  return region_begins(&steps.backward, kBackward, "backward_begins");
}

static PyObject* backward_ends(PyObject* self, PyObject* begun) {
  (void)self;
  return region_ends(&steps.backward, "backward_ends", begun);
}

static PyObject* loading_begins(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  if (is_main_thread()) steps.loaded = 1;
  return region_begins(&steps.loading, kLoading, "loading_begins");
}

static PyObject* loading_ends(PyObject* self, PyObject* begun) {
  (void)self;
  return region_ends(&steps.loading, "loading_ends", begun);
}

static PyObject* closure_begins(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return region_begins(&steps.closures, kNoPhase, "closure_begins");
}

static PyObject* closure_ends(PyObject* self, PyObject* begun) {
  (void)self;
  return region_ends(&steps.closures, "closure_ends", begun);
}

/* Whether an optimizer steps within the step of the one that is followed, which is not a step of its own. */
static int is_nested(void) { return steps.mode != kGeneral && steps.stepping; }

int plain_optimizer_steps(void) { return is_nested() && !steps.closures; }

static PyObject* optimizer_begins(PyObject* self, PyObject* optimizer) {
  (void)self;
  if (!is_main_thread()) Py_RETURN_NONE;
  if (steps.mode != kGeneral && optimizer == steps.optimizer) {
    if (++steps.stepping == 1 && steps.mode == kFollowed) begin_phase(kOptimizer);
    Py_RETURN_NONE;
  }
  if (steps.mode == kCounted || is_nested()) Py_RETURN_NONE;
  if ((steps.mode == kFollowed && hand_over()) || call("optimizer_begins", optimizer) < 0) return NULL;
  Py_RETURN_NONE;
}

/* Whether this was a step of the optimizer that is followed, or one within it. */
static int leave_followed(PyObject* optimizer) {
  if (steps.mode == kGeneral || optimizer != steps.optimizer) return is_nested();
  if (steps.stepping && --steps.stepping == 0 && steps.mode == kFollowed) end_phase();
  return 1;
}

static PyObject* optimizer_ends(PyObject* self, PyObject* optimizer) {
  (void)self;
  if (!is_main_thread()) Py_RETURN_NONE;
  if (leave_followed(optimizer)) {
    if (!steps.stepping) {
      steps.loaded = 0;
      steps.stepped = 1;
    }
    Py_RETURN_NONE;
  }
  if (steps.mode != kGeneral && (hand_over() || call("optimizer_begins", optimizer) < 0)) return NULL;
  if (call("optimizer_ends", optimizer) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* optimizer_fails(PyObject* self, PyObject* optimizer) {
  (void)self;
  if (!is_main_thread() || leave_followed(optimizer) || steps.mode != kGeneral) Py_RETURN_NONE;
  if (call("optimizer_fails", optimizer) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* scaler_stepped(PyObject* self, PyObject* optimizer) {
  (void)self;
  if (!is_main_thread()) Py_RETURN_NONE;
  if (steps.mode != kGeneral && optimizer == steps.optimizer) {
    steps.stepped = 1;
    steps.loaded = 0;
    Py_RETURN_NONE;
  }
  if ((steps.mode != kGeneral && hand_over()) || call("scaler_stepped", optimizer) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* scaler_updated(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  if (!is_main_thread()) Py_RETURN_NONE;
  if (steps.mode != kGeneral)
    steps.stepped = 1;
  else if (call("scaler_updated", NULL) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject* follow(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long optimizer;
  long boundaries;
  int with_phases;
  if (!PyArg_ParseTuple(arguments, "Klp:follow", &optimizer, &boundaries, &with_phases)) return NULL;
  memset(&steps, 0, sizeof steps);
  steps.mode = with_phases ? kFollowed : kCounted;
  steps.left = boundaries;
  steps.optimizer = (const void*)(uintptr_t)optimizer;
  Py_RETURN_NONE;
}

static PyObject* call_at_boundary(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  if (steps.mode == kFollowed) steps.left = 1;
  Py_RETURN_NONE;
}

static PyObject* boundaries(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return PyLong_FromLong(steps.count);
}

void set_observation(PyObject* given, PyObject* given_tracing, PyObject* given_graph_module) {
  observation = Py_NewRef(given);
  tracing = Py_NewRef(given_tracing);
  graph_module = Py_NewRef(given_graph_module);
  tracing_context = PyUnicode_InternFromString("tracing_context");
}

void end_following(void) { memset(&steps, 0, sizeof steps); }

PyMethodDef step_functions[] = {
    {"follow", follow, METH_VARARGS,
     "follow(optimizer, boundaries, with_phases): until the last of this many boundaries of steps, each of which is "
     "the first call of a module after a step of the optimizer with this id(), no Python function is called. Without "
     "phases, there must be no pass. What deviates ends it: take_over(boundaries, stepped, stepping, loaded, loading, "
     "backward, closures, direct) is called first."},
    {"call_at_boundary", call_at_boundary, METH_NOARGS,
     "call_at_boundary(): the next boundary ends follow() with phases."},
    {"boundaries", boundaries, METH_NOARGS, "boundaries() -> int: passed since follow()"},
    {"backward_begins", backward_begins, METH_NOARGS, "backward_begins() -> int: the argument for backward_ends()"},
    {"backward_ends", backward_ends, METH_O, "backward_ends(begun)"},
    {"loading_begins", loading_begins, METH_NOARGS, "loading_begins() -> int: the argument for loading_ends()"},
    {"loading_ends", loading_ends, METH_O, "loading_ends(begun)"},
    {"optimizer_begins", optimizer_begins, METH_O, "optimizer_begins(optimizer)"},
    {"optimizer_ends", optimizer_ends, METH_O, "optimizer_ends(optimizer)"},
    {"optimizer_fails", optimizer_fails, METH_O, "optimizer_fails(optimizer): called instead if its step has raised"},
    {"closure_begins", closure_begins, METH_NOARGS,
     "closure_begins() -> int: an optimizer calls its closure; the argument for closure_ends()"},
    {"closure_ends", closure_ends, METH_O, "closure_ends(begun)"},
    {"scaler_stepped", scaler_stepped, METH_O,
     "scaler_stepped(optimizer): a GradScaler that may have skipped the step of this optimizer"},
    {"scaler_updated", scaler_updated, METH_NOARGS,
     "scaler_updated(): a GradScaler that may have skipped the step of the optimizer"},
    {NULL, NULL, 0, NULL}};
