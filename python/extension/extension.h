/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the CPython extension kymo._engine. It uses only the limited API, so that one build works with all versions
 * of Python since 3.10.
 */
#ifndef KYMO_EXTENSION_H
#define KYMO_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kymo_plugin.h>

/* The Python side of a kymo_context. Its host is NULL after the workload was destroyed. */
typedef struct {
  PyObject header;
  const kymo_host* host;
  kymo_context* context;
  kymo_placement placement; /* without its string */
  PyObject* rendezvous_host;
  uint64_t seed;
  unsigned long thread; /* that runs the workload */
  /* An exception left a phase, which has not been ended yet: a failed step ends in the phase that failed. */
  int unwinding;
  PyObject* phases; /* the last Phase that was created, by name */
} Run;

/* run.c */
int add_run_type(PyObject* module);
Run* new_run(const kymo_host* host, kymo_context* context);
/* Ends the phase that an exception left, because the workload handled the exception. */
void end_unwound_phase(Run* run);
int raise_ended(void);
int raise_wrong_thread(const char* what);
/* Returns 0, or -1 with RuntimeError set if the workload was destroyed. */
static inline int require_live(const Run* run) { return run->host ? 0 : raise_ended(); }
/* Returns 0, or -1 with RuntimeError set if this is not the thread that runs the workload. */
static inline int require_workload_thread(const Run* run, const char* what) {
  return PyThread_get_thread_ident() == run->thread ? 0 : raise_wrong_thread(what);
}

/* regions.c: objects for `with` */
int add_region_types(PyObject* module);
/* Returns the same object for the same arguments until another stream is passed, because steps may create phases. */
PyObject* get_phase(Run* run, PyObject* name, void* stream);
PyObject* new_scope(Run* run, PyObject* name);
PyObject* new_collective(Run* run, const kymo_collective* call, PyObject* communicator);

/* The UTF-8 text of a str, owned by it. Returns NULL with TypeError or ValueError set for other objects, for text with
 * surrogates and for text that contains '\0'. */
const char* text_of(PyObject* object, const char* what);

/* workloads.c: tables of workloads whose functions are Python callables */

typedef struct {
  kymo_workload table;
  PyObject* factory; /* borrowed from the source of the file's table; returns the functions of an instance for a Run */
} Workload;

/* The table of one file. The strings in it belong to `source`, the answer of the Python function load. */
typedef struct Table {
  struct Table* previous;
  PyObject* source;
  kymo_plugin plugin;
  Workload* workloads;
  uint32_t count;
} Table;
/* Builds a table from (framework, (workload, ...)); takes the reference. Returns NULL with an exception set. The engine
 * uses only the last table. */
const Table* new_table(PyObject* source);
void free_tables(void);

/* serve.c */

/* The engine calls the functions of workloads on the thread that called serve(), without the GIL. */
void acquire_gil(void);
void release_gil(void);
/* Clears the current exception and describes it. Stores a str or NULL in `message`. Returns the status for the host. */
kymo_status describe_exception(PyObject** message);
/* The text of such a message, which is never NULL. */
const char* message_text(PyObject* message);
/* Passes the current exception to the host. Returns the status for the host. */
kymo_status fail(const kymo_host* host, kymo_context* context);

#endif
