/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads whose functions are Python callables, as tables for the engine. */
#include <stdlib.h>
#include <string.h>

#include "extension.h"

static Table* current;

typedef struct {
  Run* run;
  /* Callables without arguments; the optional ones are NULL if they are missing. */
  PyObject *prepare, *before_step, *step, *verify, *close;
  PyObject* verified; /* what verify returned, which owns the strings of `checks` */
  kymo_check* checks;
} Instance;

static kymo_status status_of(const Instance* self, PyObject* result) {
  if (!result) return fail(self->run->host, self->run->context);
  Py_DECREF(result);
  return KYMO_OK;
}

static void assign(PyObject** to, PyObject* value) {
  PyObject* before = *to;
  *to = value == Py_None ? NULL : Py_NewRef(value);
  Py_XDECREF(before);
}

/* The workload may keep the run, but not use it. */
static void end_run(Run* run) {
  run->host = NULL;
  PyDict_Clear(run->phases); /* they refer to the run */
}

static void free_instance(Instance* self) {
  end_run(self->run);
  PyObject* owned[] = {(PyObject*)self->run, self->prepare, self->before_step, self->step,
                       self->verify,         self->close,   self->verified};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) Py_XDECREF(owned[i]);
  free(self->checks);
  free(self);
  /* The workload may hold cycles, and the next one needs the memory. The collector does nothing while it is disabled.
   */
  const int enabled = PyGC_Enable();
  PyGC_Collect();
  if (!enabled) PyGC_Disable();
}

static kymo_status create(const kymo_workload* table, const kymo_host* host, kymo_context* context, void** out) {
  acquire_gil();
  kymo_status status = KYMO_OK;
  Workload* workload = (Workload*)table;
  Instance* self = calloc(1, sizeof *self);
  Run* run = self ? new_run(host, context) : NULL;
  PyObject* functions = run ? PyObject_CallFunctionObjArgs(workload->factory, (PyObject*)run, NULL) : NULL;
  PyObject *prepare, *before_step, *step, *verify, *close;
  int optional;
  if (functions && PyArg_ParseTuple(functions, "OOOOOp", &prepare, &before_step, &step, &verify, &close, &optional)) {
    assign(&self->prepare, prepare);
    assign(&self->before_step, before_step);
    assign(&self->step, step);
    assign(&self->verify, verify);
    assign(&self->close, close);
    /* Known only after the file was imported; the host reads it after the steps. */
    if (optional) workload->table.flags |= KYMO_PHASES_ARE_OPTIONAL;
    self->run = run;
    *out = self;
  } else {
    if (!self) PyErr_NoMemory();
    status = fail(host, context);
    if (run) end_run(run);
    Py_XDECREF(run);
    free(self);
  }
  Py_XDECREF(functions);
  release_gil();
  return status;
}

/* Calls a function of the workload, which may be missing. */
static kymo_status call(const Instance* self, PyObject* function) {
  if (!function) return KYMO_OK;
  acquire_gil();
  const kymo_status status = status_of(self, PyObject_CallNoArgs(function));
  release_gil();
  return status;
}

/* The functions before_step, step and verify of a workload that is a function are known when prepare returns. */
static kymo_status prepare(void* instance, kymo_context*) {
  Instance* self = instance;
  acquire_gil();
  PyObject* result = self->prepare ? PyObject_CallNoArgs(self->prepare) : Py_NewRef(Py_None);
  PyObject *before_step, *step, *verify;
  if (result && result != Py_None) {
    if (PyArg_ParseTuple(result, "OOO", &before_step, &step, &verify)) {
      assign(&self->before_step, before_step);
      assign(&self->step, step);
      assign(&self->verify, verify);
    } else {
      Py_DECREF(result);
      result = NULL;
    }
  }
  const kymo_status status = status_of(self, result);
  release_gil();
  return status;
}

static kymo_status before_step(void* instance, kymo_context*) {
  const Instance* self = instance;
  return call(self, self->before_step);
}

static kymo_status step(void* instance, kymo_context*) {
  const Instance* self = instance;
  acquire_gil();
  PyObject* result = PyObject_CallNoArgs(self->step);
  kymo_status status = KYMO_OK;
  if (result) {
    Py_DECREF(result);
    if (self->run->unwinding) end_unwound_phase(self->run);
  } else {
    status = fail(self->run->host, self->run->context);
  }
  release_gil();
  return status;
}

/* Fills `checks` from a tuple of (name, outcome, reference, detail, max_abs_error, max_rel_error, tolerance). Returns
 * 0, or -1 with an exception set. */
static int read_checks(Instance* self, kymo_verification* out) {
  const Py_ssize_t count = PyTuple_Size(self->verified);
  if (count < 0) return -1;
  free(self->checks);
  self->checks = calloc((size_t)count + 1, sizeof *self->checks);
  if (!self->checks) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    kymo_check* check = &self->checks[i];
    check->size = sizeof *check;
    if (!PyArg_ParseTuple(PyTuple_GetItem(self->verified, i), "sIssddd", &check->name, &check->outcome,
                          &check->reference, &check->detail, &check->max_abs_error, &check->max_rel_error,
                          &check->tolerance))
      return -1;
  }
  out->check_count = (uint32_t)count;
  out->checks = self->checks;
  return 0;
}

static kymo_status verify(void* instance, kymo_context*, kymo_verification* out) {
  Instance* self = instance;
  acquire_gil();
  PyObject* result = self->verify ? PyObject_CallNoArgs(self->verify) : PyTuple_New(0);
  if (result) assign(&self->verified, result);
  if (result && read_checks(self, out)) {
    Py_DECREF(result);
    result = NULL;
  }
  const kymo_status status = status_of(self, result);
  release_gil();
  return status;
}

static void destroy(void* instance) {
  Instance* self = instance;
  if (!self) return;
  acquire_gil();
  const kymo_host* host = self->run->host;
  PyObject* result = self->close ? PyObject_CallNoArgs(self->close) : NULL;
  if (self->close && !result) {
    PyObject* message;
    describe_exception(&message);
    if (host->log) host->log(self->run->context, KYMO_LOG_ERROR, message_text(message));
    Py_XDECREF(message);
  }
  Py_XDECREF(result);
  free_instance(self);
  release_gil();
}

static uint32_t workload_count(void) { return current->count; }
static const kymo_workload* workload_at(uint32_t index) {
  return index < current->count ? &current->workloads[index].table : NULL;
}

static void free_table(Table* table) {
  for (uint32_t i = 0; table->workloads && i < table->count; ++i) {
    free((void*)table->workloads[i].table.parameters);
    free((void*)table->workloads[i].table.phases);
  }
  free(table->workloads);
  Py_XDECREF(table->source);
  free(table);
}

/* Names and types suffice: the host has checked the values that it assigns. */
static int read_parameters(kymo_workload* workload, PyObject* declared) {
  const Py_ssize_t count = PyTuple_Size(declared);
  if (count < 0) return -1;
  kymo_parameter* parameters = calloc((size_t)count + 1, sizeof *parameters);
  if (!parameters) return -1;
  workload->parameters = parameters;
  workload->parameter_count = (uint32_t)count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    kymo_parameter* parameter = &parameters[i];
    parameter->size = sizeof *parameter;
    if (!PyArg_ParseTuple(PyTuple_GetItem(declared, i), "sI", &parameter->name, &parameter->type)) return -1;
    parameter->unit = parameter->documentation = parameter->default_value.text = "";
    parameter->default_value.type = parameter->type;
  }
  return 0;
}

static int read_phases(kymo_workload* workload, PyObject* declared) {
  const Py_ssize_t count = PyTuple_Size(declared);
  if (count < 0) return -1;
  const char** phases = calloc((size_t)count + 1, sizeof *phases);
  if (!phases) return -1;
  workload->phases = phases;
  workload->phase_count = (uint32_t)count;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!(phases[i] = text_of(PyTuple_GetItem(declared, i), "the name of a phase"))) return -1;
  return 0;
}

static int read_workload(Workload* workload, PyObject* declared) {
  kymo_workload* to = &workload->table;
  PyObject *phases, *parameters;
  if (!PyArg_ParseTuple(declared, "sO!IIO!O", &to->name, &PyTuple_Type, &phases, &to->flags, &to->devices,
                        &PyTuple_Type, &parameters, &workload->factory))
    return -1;
  if (read_phases(to, phases) || read_parameters(to, parameters)) return -1;
  to->size = sizeof *to;
  to->documentation = to->family = "";
  to->title = to->name;
  to->min_ranks = 1;
  to->create = create;
  to->prepare = prepare;
  to->before_step = before_step;
  to->step = step;
  to->verify = verify;
  to->destroy = destroy;
  return 0;
}

const Table* new_table(PyObject* source) {
  PyObject* workloads;
  Table* table = calloc(1, sizeof *table);
  if (!table) {
    Py_DECREF(source);
    PyErr_NoMemory();
    return NULL;
  }
  table->source = source;
  table->plugin = (kymo_plugin){sizeof(kymo_plugin), KYMO_ABI_MAJOR, KYMO_ABI_MINOR, "python", "0", NULL,
                                workload_count,      workload_at};
  int failed = !PyArg_ParseTuple(source, "sO!", &table->plugin.framework, &PyTuple_Type, &workloads);
  if (!failed) {
    const Py_ssize_t count = PyTuple_Size(workloads);
    table->count = (uint32_t)count;
    table->workloads = calloc((size_t)count + 1, sizeof *table->workloads);
    failed = !table->workloads;
  }
  for (uint32_t i = 0; !failed && i < table->count; ++i)
    failed = read_workload(&table->workloads[i], PyTuple_GetItem(workloads, i));
  if (failed) {
    if (!PyErr_Occurred()) PyErr_NoMemory();
    free_table(table);
    return NULL;
  }
  table->previous = current;
  current = table;
  return table;
}

void free_tables(void) {
  while (current) {
    Table* const last = current;
    current = last->previous;
    free_table(last);
  }
}
