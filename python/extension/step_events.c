/* SPDX-License-Identifier: Apache-2.0 */
/* The events of which the steps of a program consist: its calls, backward passes, optimizer steps.
 *
 * Python decides what they mean (_steps.py): where a step ends, which phases begin and end. But a Python function that
 * a step calls once costs it about 1 µs, because its code and data are not in the processor's caches, and _steps.py has
 * a dozen. So what Python decides is memoized, as by a lazily built deterministic automaton: Python tells the state
 * that it is in after an event, and for a state and an event, what it did and the next state are kept. If the same
 * event comes in the same state again, this is done here. Any other event goes to Python, which takes over the state
 * before.
 */
#include "program.h"

/* Each is a function of the module but the first two, and a method of the observation: see event_functions. */
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

/* The effects of an event, from the first one in the lowest bits on; is_boundary: a step ended before them. */
typedef struct {
  uint16_t event : 4, result : 1, is_boundary : 1, effects : kMaxEffects *kEffectBits;
} Outcome;

typedef struct {
  const void* subject; /* of the event: two events with different ones are different */
  uint16_t from, to;
  uint16_t next; /* the transition that came after this one the last time */
  Outcome outcome;
} Transition;

static struct {
  int is_memoizing; /* otherwise, all goes to Python */
  int is_in_python; /* the state of Python is `state` */
  long left;        /* the boundary after which all goes to Python, from here */
  long count, told; /* boundaries since follow(), and those of them that Python knows */
  uint16_t state;
  int last; /* transition */
  int transitions_count;
  Transition transitions[kMaxTransitions];
} memo = {.state = kUnknown};

static struct {
  Outcome outcome;
  int count; /* of effects */
  int is_memoizable;
} handled; /* by Python */

static PyObject* observation;                              /* has the methods */
static PyObject *tracing, *graph_module, *tracing_context; /* the last one is the name of the attribute */
static PyObject* main_tracing;                             /* the attributes of `tracing` on the main thread */

/* 0, or -1 with an exception set. */
static int take_over(void) {
  if (memo.is_in_python) return 0;
  const long more = memo.count - memo.told;
  memo.told = memo.count;
  memo.is_in_python = 1;
  PyObject* result = PyObject_CallMethod(observation, "take_over", "il", memo.state, more);
  Py_XDECREF(result);
  return result ? 0 : -1;
}

/* Python has handled an event. 0, or -1 with an exception set. */
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

/* The result of the method, or -1 with an exception set. `is_new`: its outcome is not known. */
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

static int is_of(int index, Event event, const void* subject) {
  const Transition* each = &memo.transitions[index];
  return index < memo.transitions_count && each->subject == subject && each->from == memo.state &&
         each->outcome.event == event;
}

/* Whether the transition of the event is known: it is the last one then. */
static int find(Event event, const void* subject) {
  int at = memo.transitions[memo.last].next;
  for (int other = 0; !is_of(at, event, subject); at = other++)
    if (other == memo.transitions_count) return 0;
  memo.transitions[memo.last].next = (uint16_t)at;
  memo.last = at;
  return 1;
}

/* A step ends. Whether nothing but the known effects follows from that. */
static int end_known_step(void) {
  const int is_in_pass = open_phases() >= 0;
  if (--memo.left <= 0 || (!is_in_pass && requested_window_begins(memo.count + 1))) return 0;
  if (is_in_pass && !end_step(0)) return 0; /* Python sees that the pass has ended */
  ++memo.count;
  return 1;
}

/* 1 or 0: the result of the method for the event, with the argument if there is one; -1 with an exception set. */
static int happens(Event event, PyObject* argument, const void* subject) {
  if (!memo.is_memoizing || !find(event, subject)) return call_python(event, argument, subject, 1);
  const Transition* known = &memo.transitions[memo.last];
  if (known->outcome.is_boundary && !end_known_step()) return call_python(event, argument, subject, 0);
  for (unsigned left = known->outcome.effects; left; left >>= kEffectBits) {
    const Phase effect = (Phase)(left % (1 << kEffectBits) - 1);
    if (effect == kPhaseEnds)
      end_phase();
    else
      begin_phase(effect);
  }
  memo.state = known->to;
  memo.is_in_python = 0;
  return known->outcome.result;
}

void note_effect(Phase effect) {
  if (handled.count == kMaxEffects)
    handled.is_memoizable = 0;
  else
    handled.outcome.effects |= (uint16_t)((effect + 1) << (kEffectBits * handled.count++));
}

/* Whether torch calls functions of the program to compile them. `tracing` is a threading.local: its attribute __dict__
 * is the same dict as long as the thread exists, and a look at it touches less memory than one at an attribute. */
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
  return happens(kRootBegins, module, is_function ? Py_True : is_graph ? Py_False : NULL);
}

int root_ends(void) { return happens(kRootEnds, NULL, NULL); }

/* Functions of an event, whose number is their `self`. */

/* Returns what is given to the function of its end: None if it is not observed, or whether it began a phase. */
static PyObject* begins(PyObject* event, PyObject* unused) {
  (void)unused;
  if (!is_main_thread() || torch_traces()) Py_RETURN_NONE;
  const int in_phase = happens((Event)PyLong_AsLong(event), NULL, NULL);
  return in_phase < 0 ? NULL : PyBool_FromLong(in_phase);
}

static PyObject* ends(PyObject* event, PyObject* begun) {
  if (begun != Py_None && happens((Event)PyLong_AsLong(event), begun, begun) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* happens_to(PyObject* event, PyObject* optimizer) {
  if (is_main_thread() && happens((Event)PyLong_AsLong(event), optimizer, optimizer) < 0) return NULL;
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
     {"optimizer_begins", happens_to, METH_O, "optimizer_begins(optimizer)"},
     {"optimizer_ends", happens_to, METH_O, "optimizer_ends(optimizer)"},
     {"optimizer_fails", happens_to, METH_O, "optimizer_fails(optimizer): called instead if its step has raised"},
     {"scaler_stepped", happens_to, METH_O, "scaler_stepped(optimizer): a GradScaler may have skipped its step"},
     {"scaler_updated", happens_to, METH_NOARGS, "scaler_updated(): a GradScaler may have skipped a step"}};

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

static PyObject* follow(PyObject* self, PyObject* boundaries) {
  (void)self;
  memo.left = PyLong_AsLong(boundaries);
  if (PyErr_Occurred()) return NULL;
  if (handled.count > 0) handled.is_memoizable = 0;
  handled.outcome.is_boundary = 1;
  memo.is_memoizing = memo.left > 1;
  memo.is_in_python = 1;
  memo.state = kUnknown;
  memo.count = memo.told = 0;
  Py_RETURN_NONE;
}

void end_following(void) {
  memo.is_memoizing = memo.transitions_count = memo.last = 0;
  memo.count = memo.told;
}

static PyObject* follow_no_more(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  const int failed = memo.is_memoizing && take_over();
  end_following();
  if (failed) return NULL;
  Py_RETURN_NONE;
}

static PyObject* boundaries(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return PyLong_FromLong(memo.count - memo.told);
}

void set_observation(PyObject* given, PyObject* given_tracing, PyObject* given_graph_module) {
  observation = Py_NewRef(given);
  tracing = Py_NewRef(given_tracing);
  graph_module = Py_NewRef(given_graph_module);
  tracing_context = PyUnicode_InternFromString("tracing_context");
}

PyMethodDef step_functions[] = {
    {"follow", follow, METH_O,
     "follow(boundaries): called at a boundary of steps. From here to the last of this many boundaries, what the "
     "observation does for an event, after which state_number() is not negative, is repeated in the same state."},
    {"follow_no_more", follow_no_more, METH_NOARGS, "follow_no_more(): until the next call of follow()"},
    {"boundaries", boundaries, METH_NOARGS, "boundaries() -> int: passed, of which the observation does not know"},
    {NULL, NULL, 0, NULL}};
