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
  kScalerUpdated
} Event;
static const char* const methods[] = /* of the observation, by Event */
    {"root_begins",     "root_ends",      "backward_begins", "backward_ends",    "loading_begins",
     "loading_ends",    "closure_begins", "closure_ends",    "optimizer_begins", "optimizer_ends",
     "optimizer_fails", "scaler_stepped", "scaler_updated"};

enum {
  kMaxStates = 1024,
  kMaxTransitions = 2048,
  kMaxEffects = 3, /* of an event, besides the end of a step */
  kEffectBits = 3, /* an effect: a Phase that begins, plus 1, or kPhaseEnds */
  kPhaseEnds = 6,
  kEffectMask = (1 << kEffectBits) - 1,
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
static PyObject *states, *state_numbers; /* list of states, and dict of their numbers by state and open phases */

static struct {
  Outcome outcome;
  int count; /* of effects */
  int is_memoizable;
} handled; /* by Python */

static PyObject* observation;                              /* has the methods */
static PyObject *tracing, *graph_module, *tracing_context; /* the last one is the name of the attribute */
static PyObject* main_tracing;                             /* the attributes of `tracing` on the main thread */

static void forget_transitions(void) {
  memo.transitions_count = memo.last = 0;
  memo.state = kUnknown;
  if (states) PyList_SetSlice(states, 0, PyList_Size(states), NULL);
  if (state_numbers) PyDict_Clear(state_numbers);
}

/* 0, or -1 with an exception set. */
static int take_over(void) {
  if (memo.is_in_python) return 0;
  PyObject* state = PyList_GetItem(states, memo.state); /* borrowed */
  const long more = memo.count - memo.told;
  memo.told = memo.count;
  memo.is_in_python = 1;
  PyObject* result = state ? PyObject_CallMethod(observation, "take_over", "Ol", state, more) : NULL;
  Py_XDECREF(result);
  return result ? 0 : -1;
}

/* The number of the state that Python is in, kUnknown if what follows from it is not known, or -1 with an exception. */
static long state_number(void) {
  PyObject* state = PyObject_CallMethod(observation, "state_of_steps", NULL);
  if (!state || state == Py_None) {
    Py_XDECREF(state);
    return state ? kUnknown : -1;
  }
  if (!states) states = PyList_New(0);
  if (!state_numbers) state_numbers = PyDict_New();
  PyObject* key = Py_BuildValue("Oi", state, open_phases());
  PyObject* known = key ? PyDict_GetItemWithError(state_numbers, key) : NULL; /* borrowed */
  const Py_ssize_t count = PyList_Size(states);
  long number = known ? PyLong_AsLong(known) : PyErr_Occurred() ? -1 : count;
  if (number == count) {
    PyObject* value = PyLong_FromLong(number);
    if (!value || PyDict_SetItem(state_numbers, key, value) || PyList_Append(states, state)) number = -1;
    Py_XDECREF(value);
  }
  Py_XDECREF(key);
  Py_DECREF(state);
  return number;
}

/* Python has handled an event. 0, or -1 with an exception set. */
static int memoize(Transition transition) {
  const long to = state_number();
  if (to < 0) return -1;
  memo.is_in_python = 1;
  memo.is_memoizing = to != kUnknown;
  memo.state = transition.to = (uint16_t)to;
  if (memo.transitions_count == kMaxTransitions || to == kMaxStates - 1) {
    forget_transitions();
    memo.is_memoizing = 0;
  } else if (memo.is_memoizing && transition.from != kUnknown && handled.is_memoizable) {
    memo.last = memo.transitions_count++;
    memo.transitions[memo.last] = transition;
  }
  return 0;
}

/* The result of the method, or -1 with an exception set. `is_new`: its outcome is not known. */
static int call_python(Event event, PyObject* argument, const void* subject, int is_new) {
  Transition transition = {.subject = subject, .from = memo.is_memoizing ? memo.state : kUnknown};
  const int was_in_pass = open_phases() >= 0;
  if (transition.from != kUnknown && take_over()) return -1;
  handled.outcome = (Outcome){.event = event};
  handled.count = 0;
  handled.is_memoizable = is_new;
  PyObject* returned = PyObject_CallMethod(observation, methods[event], argument ? "O" : NULL, argument);
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
  const int predicted = memo.transitions[memo.last].next;
  if (is_of(predicted, event, subject)) {
    memo.last = predicted;
    return 1;
  }
  for (int i = 0; i < memo.transitions_count; ++i) {
    if (!is_of(i, event, subject)) continue;
    memo.transitions[memo.last].next = (uint16_t)i;
    memo.last = i;
    return 1;
  }
  return 0;
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
    const unsigned effect = left & kEffectMask;
    if (effect == kPhaseEnds)
      end_phase();
    else
      begin_phase((Phase)(effect - 1));
  }
  memo.state = known->to;
  memo.is_in_python = 0;
  return known->outcome.result;
}

static void note(unsigned effect) {
  if (handled.count == kMaxEffects)
    handled.is_memoizable = 0;
  else
    handled.outcome.effects |= (uint16_t)(effect << (kEffectBits * handled.count++));
}

void note_phase_begin(Phase phase) { note((unsigned)phase + 1); }
void note_phase_end(void) { note(kPhaseEnds); }

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

RootCall root_begins(PyObject* module, int is_function) {
  if (torch_traces()) return kNotObserved;
  const int is_graph = PyType_IsSubtype(Py_TYPE(module), (PyTypeObject*)graph_module);
  if (!is_main_thread()) return is_graph ? kNotObserved : kObserved;
  const int result = happens(kRootBegins, module, is_function ? Py_True : is_graph ? Py_False : NULL);
  return result < 0 ? kRaised : result ? kObserved : kNotObserved;
}

int root_ends(void) { return happens(kRootEnds, NULL, NULL) < 0 ? -1 : 0; }

/* What begins returns, for its end: None if it is not observed, or whether it began a phase. */
static PyObject* begins(Event event) {
  if (!is_main_thread()) Py_RETURN_NONE;
  const int in_phase = happens(event, NULL, NULL);
  return in_phase < 0 ? NULL : PyBool_FromLong(in_phase);
}

static PyObject* ends(Event event, PyObject* begun) {
  if (begun != Py_None && happens(event, begun, begun) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* happens_to(PyObject* optimizer, Event event) {
  if (is_main_thread() && happens(event, optimizer, optimizer) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* backward_begins(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  if (torch_traces()) Py_RETURN_NONE;
  return begins(kBackwardBegins);
}

static PyObject* backward_ends(PyObject* self, PyObject* begun) {
  (void)self;
  return ends(kBackwardEnds, begun);
}

static PyObject* loading_begins(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return begins(kLoadingBegins);
}

static PyObject* loading_ends(PyObject* self, PyObject* begun) {
  (void)self;
  return ends(kLoadingEnds, begun);
}

static PyObject* closure_begins(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return begins(kClosureBegins);
}

static PyObject* closure_ends(PyObject* self, PyObject* begun) {
  (void)self;
  return ends(kClosureEnds, begun);
}

static PyObject* optimizer_begins(PyObject* self, PyObject* optimizer) {
  (void)self;
  return happens_to(optimizer, kOptimizerBegins);
}

static PyObject* optimizer_ends(PyObject* self, PyObject* optimizer) {
  (void)self;
  return happens_to(optimizer, kOptimizerEnds);
}

static PyObject* optimizer_fails(PyObject* self, PyObject* optimizer) {
  (void)self;
  return happens_to(optimizer, kOptimizerFails);
}

static PyObject* scaler_stepped(PyObject* self, PyObject* optimizer) {
  (void)self;
  return happens_to(optimizer, kScalerStepped);
}

static PyObject* scaler_updated(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return happens_to(NULL, kScalerUpdated);
}

static PyObject* follow(PyObject* self, PyObject* boundaries) {
  (void)self;
  memo.left = PyLong_AsLong(boundaries);
  if (PyErr_Occurred()) return NULL;
  if (handled.count > 0) handled.is_memoizable = 0;
  handled.outcome.is_boundary = 1;
  memo.is_memoizing = memo.left > 1;
  memo.state = kUnknown;
  memo.count = memo.told = 0;
  Py_RETURN_NONE;
}

static PyObject* follow_no_more(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  const int failed = memo.is_memoizing && memo.state != kUnknown && take_over();
  memo.is_memoizing = 0;
  forget_transitions();
  if (failed) return NULL;
  Py_RETURN_NONE;
}

static PyObject* call_at_boundary(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  if (open_phases() >= 0) memo.left = 1;
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

void end_following(void) {
  memo.is_memoizing = 0;
  memo.count = memo.told = 0;
  forget_transitions();
}

PyMethodDef step_functions[] = {
    {"follow", follow, METH_O,
     "follow(boundaries): called at a boundary of steps. From here to the last of this many boundaries, events after "
     "which state_of_steps() of the observation returned the same and not None have the same effects, and are not "
     "passed to it."},
    {"follow_no_more", follow_no_more, METH_NOARGS, "follow_no_more(): until the next call of follow()"},
    {"call_at_boundary", call_at_boundary, METH_NOARGS,
     "call_at_boundary(): within a pass, the next boundary is passed to the observation."},
    {"boundaries", boundaries, METH_NOARGS, "boundaries() -> int: passed, of which the observation does not know"},
    {"backward_begins", backward_begins, METH_NOARGS,
     "backward_begins() -> bool or None: the argument for backward_ends()"},
    {"backward_ends", backward_ends, METH_O, "backward_ends(begun)"},
    {"loading_begins", loading_begins, METH_NOARGS,
     "loading_begins() -> bool or None: the argument for loading_ends()"},
    {"loading_ends", loading_ends, METH_O, "loading_ends(begun)"},
    {"optimizer_begins", optimizer_begins, METH_O, "optimizer_begins(optimizer)"},
    {"optimizer_ends", optimizer_ends, METH_O, "optimizer_ends(optimizer)"},
    {"optimizer_fails", optimizer_fails, METH_O, "optimizer_fails(optimizer): called instead if its step has raised"},
    {"closure_begins", closure_begins, METH_NOARGS,
     "closure_begins() -> bool or None: an optimizer calls its closure; the argument for closure_ends()"},
    {"closure_ends", closure_ends, METH_O, "closure_ends(begun)"},
    {"scaler_stepped", scaler_stepped, METH_O,
     "scaler_stepped(optimizer): a GradScaler that may have skipped the step of this optimizer"},
    {"scaler_updated", scaler_updated, METH_NOARGS,
     "scaler_updated(): a GradScaler that may have skipped the step of the optimizer"},
    {NULL, NULL, 0, NULL}};
