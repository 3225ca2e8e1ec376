/* SPDX-License-Identifier: Apache-2.0 */
/* The events of the steps of a program: its calls, backward passes, optimizer steps.
 *
 * Python decides their effects (_steps.py): where a step ends, which phases begin and end. But a Python function that
 * is called once per step costs about 1 µs, because its code and data are not in the processor's caches, and _steps.py
 * has a dozen. So the decisions of Python are memoized in a lazily built deterministic automaton: after each event,
 * Python reports its state as a number, and the effects of the event and the next state are stored as a transition. If
 * the same event comes in the same state again, its effects are repeated here. Any other event is passed to Python,
 * which first takes over the current state.
 */
#include "program.h"

/* Each is a method of the observation and, except the first two, a function of the module: see event_functions. */
typedef enum {
  kRootBegins,
  kRootEnds,
  kBackwardBegins,
  kBackwardEnds,
  kLoadingBegins,
  kLoadingEnds,
  kClosureBegins,
  kClosureEnds,
  kOptimizerBegins,
  kOptimizerEnds,
  kOptimizerFails,
  kScalerStepped,
  kScalerUpdated,
  kEvents
} Event;
static PyMethodDef event_functions[kEvents];

enum {
  kMaxTransitions = 2048,
  kMaxEffects = 3,      /* of an event, besides the end of a step */
  kEffectBits = 3,      /* an effect plus 1: a Phase that begins, or kPhaseEnds */
  kUnknown = UINT16_MAX /* no state */
};

/* The effects of an event, the first one in the lowest bits; is_boundary: a step ended before them. */
typedef struct {
  uint16_t event : 4, result : 1, is_boundary : 1, effects : kMaxEffects *kEffectBits;
} Outcome;

typedef struct {
  const void* subject; /* distinguishes events of one kind */
  uint16_t from, to;
  uint16_t next; /* the transition that followed this one the last time */
  Outcome outcome;
} Transition;

static struct {
  int is_memoizing;     /* otherwise, all events are passed to Python */
  int is_in_python;     /* the state of Python is `state` */
  long left;            /* boundaries until all events are passed to Python */
  long count, reported; /* boundaries since follow(), and how many of them Python knows */
  uint16_t state;
  int last; /* transition */
  int transitions_count;
  Transition transitions[kMaxTransitions];
} memo = {.state = kUnknown};

static struct {
  Outcome outcome;
  int count; /* of effects */
  int is_memoizable;
} handled; /* the event that Python handles */

static PyObject* observation;
static PyObject *tracing, *graph_module, *tracing_context; /* the last one is the name of the attribute */
static PyObject* main_tracing;                             /* the attributes of `tracing` on the main thread */

/* 0, or -1 with an exception set. */
static int take_over(void) {
  if (memo.is_in_python) return 0;
  const long more = memo.count - memo.reported;
  memo.reported = memo.count;
  memo.is_in_python = 1;
  PyObject* result = PyObject_CallMethod(observation, "take_over", "il", memo.state, more);
  Py_XDECREF(result);
  return result ? 0 : -1;
}

/* Stores the transition of an event that Python has handled. 0, or -1 with an exception set. */
static int memoize(Transition transition) {
  PyObject* number = PyObject_CallMethod(observation, "state_number", "i", open_phases());
  const long to = number ? PyLong_AsLong(number) : -1;
  Py_XDECREF(number);
  memo.is_in_python = 1;
  memo.is_memoizing = to >= 0 && memo.transitions_count < kMaxTransitions;
  memo.state = transition.to = (uint16_t)to;
  if (memo.is_memoizing && transition.from != kUnknown && handled.is_memoizable) {
    memo.last = memo.transitions_count++;
    memo.transitions[memo.last] = transition;
  }
  return PyErr_Occurred() ? -1 : 0;
}

/* The result of the method, or -1 with an exception set. `is_new`: no transition is stored for the event. */
static int call_python(Event event, PyObject* argument, const void* subject, int is_new) {
  Transition transition = {.subject = subject, .from = memo.is_memoizing ? memo.state : kUnknown};
  const int was_in_pass = open_phases() >= 0;
  if (transition.from != kUnknown && take_over()) return -1;
  handled.outcome = (Outcome){.event = event};
  handled.count = 0;
  handled.is_memoizable = is_new;
  PyObject* returned =
      PyObject_CallMethod(observation, event_functions[event].ml_name, argument ? "O" : NULL, argument);
  const int result = returned ? PyObject_IsTrue(returned) : -1;
  Py_XDECREF(returned);
  if (was_in_pass != (open_phases() >= 0)) handled.is_memoizable = 0;
  handled.outcome.result = result > 0;
  transition.outcome = handled.outcome;
  if (result < 0)
    memo.is_memoizing = 0;
  else if (memo.is_memoizing && memoize(transition))
    return -1;
  return result;
}

static int matches(int index, Event event, const void* subject) {
  const Transition* each = &memo.transitions[index];
  return index < memo.transitions_count && each->subject == subject && each->from == memo.state &&
         each->outcome.event == event;
}

/* Whether a transition is stored for the event, which becomes the last one. */
static int find_transition(Event event, const void* subject) {
  int at = memo.transitions[memo.last].next;
  for (int other = 0; !matches(at, event, subject); at = other++)
    if (other == memo.transitions_count) return 0;
  memo.transitions[memo.last].next = (uint16_t)at;
  memo.last = at;
  return 1;
}

/* Ends a step. False if Python has to handle the boundary. */
static int end_memoized_step(void) {
  const int is_in_pass = open_phases() >= 0;
  if (--memo.left <= 0 || (!is_in_pass && requested_window_begins(memo.count + 1))) return 0;
  if (is_in_pass && !end_step(0)) return 0; /* the pass has ended */
  ++memo.count;
  return 1;
}

/* 1 or 0: the result of the method for the event, with the argument if there is one; -1 with an exception set. */
static int handle_event(Event event, PyObject* argument, const void* subject) {
  if (!memo.is_memoizing || !find_transition(event, subject)) return call_python(event, argument, subject, 1);
  const Transition* transition = &memo.transitions[memo.last];
  if (transition->outcome.is_boundary && !end_memoized_step()) return call_python(event, argument, subject, 0);
  for (unsigned effects = transition->outcome.effects; effects; effects >>= kEffectBits) {
    const Phase effect = (Phase)(effects % (1 << kEffectBits) - 1);
    if (effect == kPhaseEnds)
      end_phase();
    else
      begin_phase(effect);
  }
  memo.state = transition->to;
  memo.is_in_python = 0;
  return transition->outcome.result;
}

void record_effect(Phase effect) {
  if (handled.count == kMaxEffects)
    handled.is_memoizable = 0;
  else
    handled.outcome.effects |= (uint16_t)((effect + 1) << (kEffectBits * handled.count++));
}

/* Whether torch calls functions of the program to compile them. `tracing` is a threading.local: its attribute __dict__
 * is the same dict as long as the thread exists, and reading it touches less memory than reading an attribute. */
static int torch_traces(void) {
  const int is_main = is_main_thread();
  if (is_main && !main_tracing) main_tracing = PyObject_GetAttrString(tracing, "__dict__");
  PyObject* context = is_main && main_tracing ? Py_XNewRef(PyDict_GetItemWithError(main_tracing, tracing_context))
                                              : PyObject_GetAttr(tracing, tracing_context);
  if (!context) PyErr_Clear(); /* the attribute exists only in threads that have traced */
  Py_XDECREF(context);
  return context && context != Py_None;
}

int root_begins(PyObject* module, int is_function) {
  if (torch_traces()) return 0;
  const int is_graph = PyType_IsSubtype(Py_TYPE(module), (PyTypeObject*)graph_module);
  if (!is_main_thread()) return !is_graph;
  return handle_event(kRootBegins, module, is_function ? Py_True : is_graph ? Py_False : NULL);
}

int root_ends(void) { return handle_event(kRootEnds, NULL, NULL); }

/* Functions of an event, whose number is their `self`. */

/* Returns the argument for the function of the end: None if the event is not observed, or whether it began a phase. */
static PyObject* begins(PyObject* event, PyObject*) {
  if (!is_main_thread() || torch_traces()) Py_RETURN_NONE;
  const int in_phase = handle_event((Event)PyLong_AsLong(event), NULL, NULL);
  return in_phase < 0 ? NULL : PyBool_FromLong(in_phase);
}

static PyObject* ends(PyObject* event, PyObject* begun) {
  if (begun != Py_None && handle_event((Event)PyLong_AsLong(event), begun, begun) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* handle_optimizer_event(PyObject* event, PyObject* optimizer) {
  if (is_main_thread() && handle_event((Event)PyLong_AsLong(event), optimizer, optimizer) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef event_functions[kEvents] = /* by Event */
    {{"root_begins", NULL, 0, NULL},
     {"root_ends", NULL, 0, NULL},
     {"backward_begins", begins, METH_NOARGS, "backward_begins() -> bool or None: the argument for backward_ends()"},
     {"backward_ends", ends, METH_O, "backward_ends(begun)"},
     {"loading_begins", begins, METH_NOARGS, "loading_begins() -> bool or None: the argument for loading_ends()"},
     {"loading_ends", ends, METH_O, "loading_ends(begun)"},
     {"closure_begins", begins, METH_NOARGS, "closure_begins() -> bool or None: an optimizer calls its closure"},
     {"closure_ends", ends, METH_O, "closure_ends(begun)"},
     {"optimizer_begins", handle_optimizer_event, METH_O, "optimizer_begins(optimizer)"},
     {"optimizer_ends", handle_optimizer_event, METH_O, "optimizer_ends(optimizer)"},
     {"optimizer_fails", handle_optimizer_event, METH_O,
      "optimizer_fails(optimizer): called instead if its step has raised"},
     {"scaler_stepped", handle_optimizer_event, METH_O,
      "scaler_stepped(optimizer): a GradScaler may have skipped its step"},
     {"scaler_updated", handle_optimizer_event, METH_NOARGS, "scaler_updated(): a GradScaler may have skipped a step"}};

int add_event_functions(PyObject* module) {
  for (int event = kBackwardBegins; event < kEvents; ++event) {
    PyObject* number = PyLong_FromLong(event);
    PyObject* function = number ? PyCFunction_New(&event_functions[event], number) : NULL;
    const int failed = !function || PyModule_AddObjectRef(module, event_functions[event].ml_name, function);
    Py_XDECREF(number);
    Py_XDECREF(function);
    if (failed) return -1;
  }
  return 0;
}

static PyObject* follow(PyObject*, PyObject* boundaries) {
  memo.left = PyLong_AsLong(boundaries);
  if (PyErr_Occurred()) return NULL;
  if (handled.count > 0) handled.is_memoizable = 0;
  handled.outcome.is_boundary = 1;
  memo.is_memoizing = memo.left > 1;
  memo.is_in_python = 1;
  memo.state = kUnknown;
  memo.count = memo.reported = 0;
  Py_RETURN_NONE;
}

void end_following(void) {
  memo.is_memoizing = memo.transitions_count = memo.last = 0;
  memo.count = memo.reported;
}

static PyObject* stop_following(PyObject*, PyObject*) {
  const int failed = memo.is_memoizing && take_over();
  end_following();
  if (failed) return NULL;
  Py_RETURN_NONE;
}

static PyObject* boundaries(PyObject*, PyObject*) { return PyLong_FromLong(memo.count - memo.reported); }

void set_observation(PyObject* new_observation, PyObject* new_tracing, PyObject* new_graph_module) {
  observation = Py_NewRef(new_observation);
  tracing = Py_NewRef(new_tracing);
  graph_module = Py_NewRef(new_graph_module);
  tracing_context = PyUnicode_InternFromString("tracing_context");
}

PyMethodDef step_functions[] = {
    {"follow", follow, METH_O,
     "follow(boundaries): at a step boundary, begins to memoize events, until this many boundaries have passed. Events "
     "after which state_number() is negative are not memoized."},
    {"stop_following", stop_following, METH_NOARGS, "stop_following(): until the next call of follow()"},
    {"boundaries", boundaries, METH_NOARGS,
     "boundaries() -> int: the number of boundaries that were passed without calling the observation"},
    {NULL, NULL, 0, NULL}};
