/* SPDX-License-Identifier: Apache-2.0 */
/* Phases, scopes and collective calls: objects that begin a region on __enter__ and end it on __exit__. Phases and
 * scopes are entered in timed code, so __enter__ and __exit__ do nothing but what is required. */
#include "extension.h"

typedef struct {
  PyObject_HEAD Run* run;
  PyObject* name;
  const char* text; /* of name */
  void* stream;
  int open;
} Phase;

typedef struct {
  PyObject_HEAD Run* run; /* NULL: the scope does nothing */
  PyObject* name;
  const char* text; /* of name */
} Scope;

typedef struct {
  PyObject_HEAD Run* run;
  PyObject* communicator; /* str or NULL */
  kymo_collective call;
  uint64_t handle;
  int open;
} Collective;

static PyTypeObject* phase_type;
static PyTypeObject* scope_type;
static PyTypeObject* collective_type;
static PyObject* no_scope; /* for passes that do not record scopes */

static void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* phase_enter(PyObject* object, PyObject* unused) {
  (void)unused;
  Phase* self = (Phase*)object;
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
  Py_INCREF(object);
  return object;
}

static PyObject* phase_exit(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  Phase* self = (Phase*)object;
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

static PyObject* phase_name(PyObject* self, void* unused) {
  (void)unused;
  PyObject* name = ((Phase*)self)->name;
  Py_INCREF(name);
  return name;
}

static void phase_free(PyObject* object) {
  Phase* self = (Phase*)object;
  Py_XDECREF(self->run);
  Py_XDECREF(self->name);
  free_object(object);
}

PyObject* new_phase(Run* run, PyObject* name, void* stream) {
  const char* text = text_of(name, "the name of a phase");
  if (!text) return NULL;
  Phase* phase = PyObject_New(Phase, phase_type);
  if (!phase) return NULL;
  Py_INCREF(run);
  Py_INCREF(name);
  phase->run = run;
  phase->name = name;
  phase->text = text;
  phase->stream = stream;
  phase->open = 0;
  return (PyObject*)phase;
}

static PyObject* scope_enter(PyObject* object, PyObject* unused) {
  (void)unused;
  const Scope* self = (Scope*)object;
  if (self->run) {
    if (require_live(self->run)) return NULL;
    self->run->host->scope_begin(self->run->context, self->text);
  }
  Py_INCREF(object);
  return object;
}

static PyObject* scope_exit(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  (void)arguments;
  (void)count;
  const Run* run = ((Scope*)object)->run;
  if (run && run->host) run->host->scope_end(run->context);
  Py_RETURN_FALSE;
}

static void scope_free(PyObject* object) {
  Scope* self = (Scope*)object;
  Py_XDECREF(self->run);
  Py_XDECREF(self->name);
  free_object(object);
}

static PyObject* make_scope(Run* run, PyObject* name, const char* text) {
  Scope* scope = PyObject_New(Scope, scope_type);
  if (!scope) return NULL;
  Py_XINCREF(run);
  Py_XINCREF(name);
  scope->run = run;
  scope->name = name;
  scope->text = text;
  return (PyObject*)scope;
}

PyObject* new_scope(Run* run, PyObject* name) {
  const char* text = text_of(name, "the name of a scope");
  if (!text) return NULL;
  if (run->host->scope_begin && run->host->scope_end) return make_scope(run, name, text);
  Py_INCREF(no_scope);
  return no_scope;
}

static PyObject* collective_enter(PyObject* object, PyObject* unused) {
  (void)unused;
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

static PyObject* collective_exit(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  (void)arguments;
  (void)count;
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

REGION_METHODS(phase);
REGION_METHODS(scope);
REGION_METHODS(collective);

static PyGetSetDef phase_attributes[] = {{"name", phase_name, NULL, "Name of the phase.", NULL},
                                         {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot phase_slots[] = {
    {Py_tp_doc,
     "A separately timed part of a step, for `with`. Made by Run.phase(). It can be entered again after it "
     "was left, on the thread that runs the workload."},
    {Py_tp_dealloc, phase_free},
    {Py_tp_methods, phase_methods},
    {Py_tp_getset, phase_attributes},
    {0, NULL}};
static PyType_Slot scope_slots[] = {
    {Py_tp_doc,
     "A named region, for `with`, on any thread. Made by Run.scope(). It can be entered repeatedly, also "
     "within itself. End it on the thread that began it."},
    {Py_tp_dealloc, scope_free},
    {Py_tp_methods, scope_methods},
    {0, NULL}};
static PyType_Slot collective_slots[] = {
    {Py_tp_doc, "A collective call on this rank, for `with`, on any thread. Made by Run.collective()."},
    {Py_tp_dealloc, collective_free},
    {Py_tp_methods, collective_methods},
    {0, NULL}};

static PyTypeObject* add_type(PyObject* module, const char* name, int size, PyType_Slot* slots) {
  PyType_Spec spec = {name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddType(module, (PyTypeObject*)type)) return NULL;
  return (PyTypeObject*)type;
}

int add_region_types(PyObject* module) {
  phase_type = add_type(module, "kymo._engine.Phase", sizeof(Phase), phase_slots);
  scope_type = add_type(module, "kymo._engine.Scope", sizeof(Scope), scope_slots);
  collective_type = add_type(module, "kymo._engine.Collective", sizeof(Collective), collective_slots);
  if (!phase_type || !scope_type || !collective_type) return -1;
  no_scope = make_scope(NULL, NULL, NULL);
  return no_scope ? 0 : -1;
}
