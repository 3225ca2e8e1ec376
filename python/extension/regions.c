/* SPDX-License-Identifier: Apache-2.0 */
/* Phases, scopes and collective calls: objects that begin a region on __enter__ and end it on __exit__. Phases and
 * scopes are entered in timed code, so __enter__ and __exit__ do nothing but what is required. */
#include <stddef.h>

#include "extension.h"

/* `with` looks up __enter__ and __exit__ in the type and binds them to the object, which takes as long as the rest of a
 * phase. So a phase holds both as functions that are already bound, to an object of their own because otherwise it
 * would be a cycle, and a descriptor in the type returns them. */
typedef struct {
  PyObject header;
  PyObject* phase; /* NULL after it was freed, while the functions are still referenced */
  Run* run;
  PyObject* name;
  const char* text; /* of name */
  void* stream;
  int open;
} PhaseState;

typedef struct {
  PyObject header;
  PhaseState* state;
  PyObject *enter, *exit;
} Phase;

typedef struct {
  PyObject header;
  size_t offset; /* of a field of Phase */
} BoundFunction;

typedef struct {
  PyObject header;
  Run* run;
  PyObject* name;
  const char* text; /* of name */
} Scope;

typedef struct {
  PyObject header;
  Run* run;
  PyObject* communicator; /* str or NULL */
  kymo_collective call;
  uint64_t handle;
  int open;
} Collective;

static PyTypeObject* phase_state_type;
static PyTypeObject* phase_type;
static PyTypeObject* bound_function_type;
static PyTypeObject* scope_type;
static PyTypeObject* collective_type;
static PyObject* no_scope; /* for passes that do not record scopes */

static void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* phase_enter(PyObject* object, PyObject*) {
  PhaseState* self = (PhaseState*)object;
  Run* run = self->run;
  if (require_live(run) || require_workload_thread(run, "phases")) return NULL;
  if (self->open) {
    PyErr_Format(PyExc_RuntimeError, "phase '%U' is already open: phases do not nest", self->name);
    return NULL;
  }
  if (run->unwinding) end_unwound_phase(run);
  if (run->host->phase_begin && run->host->phase_begin(run->context, self->text, self->stream) != KYMO_OK) {
    PyErr_Format(PyExc_RuntimeError,
                 "phase '%U' was rejected: declare it in `phases`, do not nest phases, and begin them only in step()",
                 self->name);
    return NULL;
  }
  self->open = 1;
  return Py_NewRef(self->phase ? self->phase : Py_None);
}

static PyObject* phase_exit(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  PhaseState* self = (PhaseState*)object;
  Run* run = self->run;
  if (run->host) { /* otherwise the workload kept a `with` block open, such as that of a generator */
    if (require_workload_thread(run, "phases")) return NULL;
    if (!self->open) {
      PyErr_Format(PyExc_RuntimeError, "phase '%U' is not open", self->name);
      return NULL;
    }
    if (count > 0 && arguments[0] != Py_None)
      run->unwinding = 1;
    else if (run->host->phase_end)
      run->host->phase_end(run->context);
  }
  self->open = 0;
  Py_RETURN_FALSE;
}

static PyMethodDef phase_functions[] = {
    {"__enter__", phase_enter, METH_NOARGS, "Begins the phase."},
    {"__exit__", (PyCFunction)(void (*)(void))phase_exit, METH_FASTCALL, "Ends the phase."}};

static PyObject* phase_name(PyObject* self, void*) { return Py_NewRef(((Phase*)self)->state->name); }

static void phase_state_free(PyObject* object) {
  PhaseState* self = (PhaseState*)object;
  Py_XDECREF(self->run);
  Py_XDECREF(self->name);
  free_object(object);
}

static void phase_free(PyObject* object) {
  Phase* self = (Phase*)object;
  self->state->phase = NULL;
  Py_XDECREF(self->enter);
  Py_XDECREF(self->exit);
  Py_DECREF(self->state);
  free_object(object);
}

static PyObject* bound_function_get(PyObject* self, PyObject* phase, PyObject*) {
  if (!phase || phase == Py_None) return Py_NewRef(self);
  if (Py_TYPE(phase) != phase_type) {
    PyErr_SetString(PyExc_TypeError, "this is a method of kymo._engine.Phase");
    return NULL;
  }
  return Py_NewRef(*(PyObject**)((char*)phase + ((BoundFunction*)self)->offset));
}

static PyObject* new_phase(Run* run, PyObject* name, void* stream) {
  const char* text = text_of(name, "the name of a phase");
  PhaseState* state = text ? PyObject_New(PhaseState, phase_state_type) : NULL;
  if (!state) return NULL;
  state->phase = NULL;
  state->run = (Run*)Py_NewRef((PyObject*)run);
  state->name = Py_NewRef(name);
  state->text = text;
  state->stream = stream;
  state->open = 0;
  Phase* phase = PyObject_New(Phase, phase_type);
  if (!phase) {
    Py_DECREF(state);
    return NULL;
  }
  phase->state = state;
  phase->enter = PyCFunction_New(&phase_functions[0], (PyObject*)state);
  phase->exit = PyCFunction_New(&phase_functions[1], (PyObject*)state);
  if (!phase->enter || !phase->exit) {
    Py_DECREF(phase);
    return NULL;
  }
  state->phase = (PyObject*)phase;
  return state->phase;
}

PyObject* get_phase(Run* run, PyObject* name, void* stream) {
  if (PyUnicode_Check(name)) { /* others need not be hashable */
    PyObject* known = PyDict_GetItemWithError(run->phases, name);
    if (known && ((Phase*)known)->state->stream == stream) return Py_NewRef(known);
    if (PyErr_Occurred()) return NULL;
  }
  PyObject* phase = new_phase(run, name, stream);
  if (phase && PyDict_SetItem(run->phases, name, phase)) {
    Py_DECREF(phase);
    return NULL;
  }
  return phase;
}

static PyObject* scope_enter(PyObject* object, PyObject*) {
  const Scope* self = (Scope*)object;
  if (require_live(self->run)) return NULL;
  self->run->host->scope_begin(self->run->context, self->text);
  return Py_NewRef(object);
}

static PyObject* scope_exit(PyObject* object, PyObject* const*, Py_ssize_t) {
  const Run* run = ((Scope*)object)->run;
  if (run->host) run->host->scope_end(run->context);
  Py_RETURN_FALSE;
}

static void scope_free(PyObject* object) {
  Scope* self = (Scope*)object;
  Py_XDECREF(self->run);
  Py_XDECREF(self->name);
  free_object(object);
}

PyObject* new_scope(Run* run, PyObject* name) {
  const char* text = text_of(name, "the name of a scope");
  if (!text) return NULL;
  if (!run->host->scope_begin || !run->host->scope_end) return Py_NewRef(no_scope);
  Scope* scope = PyObject_New(Scope, scope_type);
  if (!scope) return NULL;
  scope->run = (Run*)Py_NewRef((PyObject*)run);
  scope->name = Py_NewRef(name);
  scope->text = text;
  return (PyObject*)scope;
}

/* The only object of its type, so that the functions in the type need not be bound to it. */
static PyObject* no_scope_enter(PyObject*, PyObject*) { return Py_NewRef(no_scope); }

static PyObject* no_scope_exit(PyObject*, PyObject* const*, Py_ssize_t) { Py_RETURN_FALSE; }

static PyMethodDef no_scope_functions[] = {
    {"__enter__", no_scope_enter, METH_NOARGS, "Begins the region."},
    {"__exit__", (PyCFunction)(void (*)(void))no_scope_exit, METH_FASTCALL, "Ends the region."}};

static PyObject* collective_enter(PyObject* object, PyObject*) {
  Collective* self = (Collective*)object;
  if (require_live(self->run)) return NULL;
  if (self->open) {
    PyErr_SetString(PyExc_RuntimeError, "this collective call is already open: create another object for each call");
    return NULL;
  }
  if (self->run->host->collective_begin)
    self->handle = self->run->host->collective_begin(self->run->context, &self->call);
  self->open = 1;
  Py_INCREF(object);
  return object;
}

static PyObject* collective_exit(PyObject* object, PyObject* const*, Py_ssize_t) {
  Collective* self = (Collective*)object;
  const Run* run = self->run;
  if (self->open && run->host && run->host->collective_end) run->host->collective_end(run->context, self->handle);
  self->open = 0;
  Py_RETURN_FALSE;
}

static void collective_free(PyObject* object) {
  Collective* self = (Collective*)object;
  Py_XDECREF(self->run);
  Py_XDECREF(self->communicator);
  free_object(object);
}

PyObject* new_collective(Run* run, const kymo_collective* call, PyObject* communicator) {
  Collective* collective = PyObject_New(Collective, collective_type);
  if (!collective) return NULL;
  Py_INCREF(run);
  Py_XINCREF(communicator);
  collective->run = run;
  collective->communicator = communicator;
  collective->call = *call;
  collective->handle = 0;
  collective->open = 0;
  return (PyObject*)collective;
}

#define REGION_METHODS(kind)                                                                     \
  static PyMethodDef kind##_methods[] = {                                                        \
      {"__enter__", kind##_enter, METH_NOARGS, "Begins the region."},                            \
      {"__exit__", (PyCFunction)(void (*)(void))kind##_exit, METH_FASTCALL, "Ends the region."}, \
      {NULL, NULL, 0, NULL}}

REGION_METHODS(scope);
REGION_METHODS(collective);

static PyGetSetDef phase_attributes[] = {{"name", phase_name, NULL, "Name of the phase.", NULL},
                                         {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot phase_slots[] = {
    {Py_tp_doc,
     "A separately timed part of a step, for `with`. Created by Run.phase(). It can be entered again after it "
     "was left, on the thread that runs the workload."},
    {Py_tp_dealloc, phase_free},
    {Py_tp_getset, phase_attributes},
    {0, NULL}};
static PyType_Slot scope_slots[] = {
    {Py_tp_doc,
     "A named region, for `with`, on any thread. Created by Run.scope(). It can be entered repeatedly, also "
     "within itself. End it on the thread that began it."},
    {Py_tp_dealloc, scope_free},
    {Py_tp_methods, scope_methods},
    {0, NULL}};
static PyType_Slot collective_slots[] = {
    {Py_tp_doc, "A collective call on this rank, for `with`, on any thread. Created by Run.collective()."},
    {Py_tp_dealloc, collective_free},
    {Py_tp_methods, collective_methods},
    {0, NULL}};

static PyType_Slot no_scope_slots[] = {{Py_tp_doc, "A scope of a pass that does not record scopes."}, {0, NULL}};
static PyType_Slot phase_state_slots[] = {{Py_tp_dealloc, phase_state_free}, {0, NULL}};
static PyType_Slot bound_function_slots[] = {{Py_tp_descr_get, bound_function_get}, {0, NULL}};

static PyTypeObject* make_type(const char* name, int size, PyType_Slot* slots) {
  PyType_Spec spec = {name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return (PyTypeObject*)PyType_FromSpec(&spec);
}

/* Adds __enter__ and __exit__ to the type of phases and of no_scope. */
static int add_functions(void) {
  const size_t offsets[] = {offsetof(Phase, enter), offsetof(Phase, exit)};
  for (int i = 0; i < 2; ++i) {
    BoundFunction* bound = PyObject_New(BoundFunction, bound_function_type);
    PyObject* function = PyCFunction_New(&no_scope_functions[i], NULL);
    if (!bound || !function) return -1;
    bound->offset = offsets[i];
    if (PyObject_SetAttrString((PyObject*)phase_type, phase_functions[i].ml_name, (PyObject*)bound) ||
        PyObject_SetAttrString((PyObject*)Py_TYPE(no_scope), no_scope_functions[i].ml_name, function))
      return -1;
    Py_DECREF(bound);
    Py_DECREF(function);
  }
  return 0;
}

int add_region_types(PyObject* module) {
  phase_state_type = make_type("kymo._engine.PhaseState", sizeof(PhaseState), phase_state_slots);
  bound_function_type = make_type("kymo._engine.BoundFunction", sizeof(BoundFunction), bound_function_slots);
  phase_type = make_type("kymo._engine.Phase", sizeof(Phase), phase_slots);
  scope_type = make_type("kymo._engine.Scope", sizeof(Scope), scope_slots);
  collective_type = make_type("kymo._engine.Collective", sizeof(Collective), collective_slots);
  PyTypeObject* no_scope_type = make_type("kymo._engine.NoScope", sizeof(PyObject), no_scope_slots);
  if (!phase_state_type || !bound_function_type || !phase_type || !scope_type || !collective_type || !no_scope_type)
    return -1;
  no_scope = PyObject_New(PyObject, no_scope_type);
  if (!no_scope || add_functions()) return -1;
  return PyModule_AddType(module, phase_type) || PyModule_AddType(module, scope_type) ||
         PyModule_AddType(module, collective_type);
}
