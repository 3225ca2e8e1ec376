/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that begin when they are requested: see event/window_page.h. The page is read once per step, also while no
 * event is passed to Python (step_events.c). */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/window_page.h"
#include "program.h"

static kymo_window_page* page;
static kymo_window_process* own; /* entry of this process */
static int64_t accepted = -1;    /* step of the last proposal that this process has accepted */
static int64_t begun = -1;       /* step of the last window that this process has begun */
static int64_t steps_before;     /* complete steps when window_begins() was called last */

/* False in a fork, which needs an entry of its own. */
static int has_entry(void) { return own && own->pid == getpid(); }

static void take_entry(void) {
  const uint32_t index = __atomic_fetch_add(&page->processes, 1, __ATOMIC_ACQ_REL);
  own = index < KYMO_WINDOW_PROCESSES ? &page->process[index] : NULL;
  accepted = begun = -1;
  if (own) __atomic_store_n(&own->pid, getpid(), __ATOMIC_RELEASE);
}

static int begins_after(int64_t steps) {
  __atomic_store_n(&own->steps, steps, __ATOMIC_RELEASE);
  if (begun == kymo_proposed_step(__atomic_load_n(&page->proposal, __ATOMIC_ACQUIRE))) return 0;
  return kymo_window_begins(&page->proposal, steps, &accepted);
}

int requested_window_begins(long more_steps) { return own && begins_after(steps_before + more_steps); }

static PyObject* watch_windows(PyObject*, PyObject* arguments) {
  const char* file;
  if (!PyArg_ParseTuple(arguments, "s:watch_windows", &file)) return NULL;
  const int descriptor = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat facts;
  const int is_complete =
      descriptor >= 0 && fstat(descriptor, &facts) == 0 && facts.st_size >= (off_t)sizeof(kymo_window_page);
  void* mapped = is_complete ? mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  const int reason = errno;
  if (descriptor >= 0) close(descriptor);
  if (mapped == MAP_FAILED) return PyErr_Format(PyExc_OSError, "'%s' cannot be mapped: %s", file, strerror(reason));
  page = mapped;
  if (page->version != KYMO_WINDOW_PAGE_VERSION) {
    page = NULL;
    return PyErr_Format(PyExc_OSError, "'%s' is of another version of kymo", file);
  }
  Py_RETURN_NONE;
}

static PyObject* window_begins(PyObject*, PyObject* steps) {
  steps_before = PyLong_AsLongLong(steps);
  if (PyErr_Occurred()) return NULL;
  if (page && !has_entry()) take_entry();
  const int begins = page && own && begins_after(steps_before);
  if (begins) begun = accepted;
  return PyBool_FromLong(begins);
}

PyMethodDef window_functions[] = {
    {"watch_windows", watch_windows, METH_VARARGS,
     "watch_windows(file): windows begin when they are requested in this file. Raises OSError."},
    {"window_begins", window_begins, METH_O,
     "window_begins(steps) -> bool: whether a requested window begins here, after so many complete steps"},
    {NULL, NULL, 0, NULL}};
