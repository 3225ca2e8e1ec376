/* SPDX-License-Identifier: Apache-2.0 */
/* The module kymo._engine: loads the worker engine, gives it workloads whose functions are Python callables, and lets
 * it run. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "engine_library.h"
#include "extension.h"
#include "memory_categories.h"

/* The state of serve(), of which there is one at a time. */
static struct {
  int active;
  PyObject *load, *report, *flush;
  PyThreadState* thread; /* of the thread that called serve(), while it does not hold the GIL */
} server;

static volatile sig_atomic_t forked; /* set in processes that a workload forked */

void acquire_gil(void) { PyEval_RestoreThread(server.thread); }

void release_gil(void) {
  if (forked) { /* it shares the connections of its parent, so it must not go on as a second worker */
    fputs("kymo: a process that the workload forked returned from the workload; it ends here\n", stderr);
    _exit(1);
  }
  server.thread = PyEval_SaveThread();
}

static void after_fork_in_child(void) { forked = server.active; }

/* Clears the current exception and describes it with the Python function `report`. Stores a str or NULL in `message`.
 */
kymo_status describe_exception(PyObject** message) {
  PyObject *type, *exception, *traceback;
  PyErr_Fetch(&type, &exception, &traceback);
  PyErr_NormalizeException(&type, &exception, &traceback);
  if (traceback) PyException_SetTraceback(exception, traceback);
  PyObject* answer = PyObject_CallFunctionObjArgs(server.report, exception, NULL);
  int status = KYMO_FAILED;
  *message = NULL;
  if (answer && PyTuple_Check(answer) && PyArg_ParseTuple(answer, "iU", &status, message)) Py_INCREF(*message);
  Py_XDECREF(answer);
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(exception);
  Py_XDECREF(traceback);
  return status;
}

const char* message_text(PyObject* message) {
  const char* text = message ? PyUnicode_AsUTF8AndSize(message, NULL) : NULL;
  PyErr_Clear();
  return text ? text : "an exception whose description failed";
}

kymo_status fail(const kymo_host* host, kymo_context* context) {
  PyObject* message;
  const kymo_status status = describe_exception(&message);
  const char* text = message_text(message);
  if (status == KYMO_SKIPPED) {
    if (host->skip) host->skip(context, text);
  } else if (host->fail) {
    host->fail(context, status, text);
  }
  Py_XDECREF(message);
  return status;
}

static const kymo_plugin* load(void*, const char* file, const char* description, char* error, uint64_t bytes) {
  acquire_gil();
  PyObject* file_text = PyUnicode_DecodeFSDefault(file);
  PyObject* source = file_text ? PyObject_CallFunction(server.load, "Os", file_text, description) : NULL;
  const Table* table = source ? new_table(source) : NULL;
  if (!table) {
    PyObject* message;
    describe_exception(&message);
    PyOS_snprintf(error, (size_t)bytes, "%s", message_text(message));
    Py_XDECREF(message);
  }
  Py_XDECREF(file_text);
  release_gil();
  return table ? &table->plugin : NULL;
}

static void flush(void*) {
  acquire_gil();
  Py_XDECREF(PyObject_CallNoArgs(server.flush));
  PyErr_Clear();
  release_gil();
}

static int32_t run_engine(const kymo_engine* engine, const kymo_engine_options* options) {
  static int watches_forks;
  if (!watches_forks) watches_forks = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
  server.active = 1;
  server.thread = PyEval_SaveThread();
  const int32_t code = engine->serve(options);
  PyEval_RestoreThread(server.thread);
  server.active = 0;
  free_tables();
  return code;
}

static const char serve_documentation[] =
    "serve(engine, root, address, rank, token, process_start_ns, load, report, flush) -> exit code\n\n"
    "Loads the worker engine from the file `engine` and runs assignments until the supervisor ends the worker.\n"
    "load(file, description) returns (framework, workloads), where a workload is (name, phases, flags, devices,\n"
    "parameters, factory) with parameters ((name, type), ...). factory(run) returns (prepare, before_step, step, "
    "verify,\n"
    "close, optional_phases): callables without arguments; all but step may be None. prepare() returns None or other\n"
    "(before_step, step, verify). verify() returns a tuple of (name, outcome, reference, detail, max_abs_error,\n"
    "max_rel_error, tolerance). report(exception) returns (status, message). flush() flushes output.\n"
    "Raises OSError or RuntimeError if the engine cannot be used.";

static PyObject* serve(PyObject*, PyObject* arguments) {
  const char *engine_file, *root, *address, *token;
  int rank;
  long long start_ns;
  PyObject *load_function, *report_function, *flush_function;
  if (!PyArg_ParseTuple(arguments, "sssisLOOO:serve", &engine_file, &root, &address, &rank, &token, &start_ns,
                        &load_function, &report_function, &flush_function))
    return NULL;
  if (server.active) {
    PyErr_SetString(PyExc_RuntimeError, "serve() is already running in this process");
    return NULL;
  }
  const kymo_engine* engine = load_engine(engine_file);
  if (!engine) return NULL;
  const kymo_engine_plugins plugins = {sizeof plugins, 0, NULL, load, flush};
  const kymo_engine_options options = {sizeof options, rank, address, token, root, start_ns,
                                       &plugins,       0,    0,       NULL,  NULL};
  server.load = load_function; /* kept alive by `arguments` */
  server.report = report_function;
  server.flush = flush_function;
  return PyLong_FromLong(run_engine(engine, &options));
}

static PyMethodDef functions[] = {{"serve", serve, METH_VARARGS, serve_documentation}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "kymo._engine",
                                        "Runs Python workloads with kymo's worker engine.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

#define ADD(name) PyModule_AddIntConstant(module, #name, KYMO_##name)
static int add_constants(PyObject* module) {
  return ADD(ABI_MAJOR) || ADD(ABI_MINOR) || ADD(INT) || ADD(REAL) || ADD(BOOL) || ADD(TEXT) || ADD(CHOICE) ||
         ADD(CPU) || ADD(CUDA) || ADD(PER_RUN) || ADD(PER_STEP) || ADD(PER_PHASE) || ADD(LOG_DEBUG) || ADD(LOG_INFO) ||
         ADD(LOG_WARNING) || ADD(LOG_ERROR) || ADD(ALL_REDUCE) || ADD(REDUCE_SCATTER) || ADD(ALL_GATHER) ||
         ADD(BROADCAST) || ADD(BARRIER) || ADD(CHECK_PASSED) || ADD(CHECK_FAILED) || ADD(CHECK_UNAVAILABLE) ||
         ADD(FAILED) || ADD(OUT_OF_MEMORY) || ADD(SKIPPED) || ADD(STEP_IS_ASYNCHRONOUS);
}

PyMODINIT_FUNC PyInit__engine(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module && !add_run_type(module) && !add_region_types(module) && !add_constants(module) &&
      !add_memory_categories(module))
    return module;
  Py_XDECREF(module);
  return NULL;
}
