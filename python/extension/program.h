/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the CPython extension kymo_trace._program: the scopes of modules, the steps of the program, and the engine
 * that observes it. All functions are called with the GIL, which also protects what they share.
 */
#ifndef KYMO_PROGRAM_H
#define KYMO_PROGRAM_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kymo_plugin.h>

#include "step_records.h"

/* The host functions of the pass, while it records scopes; NULL otherwise. */
extern const kymo_host* recording_host;
extern kymo_context* recording_context;

/* program.c: the phases and steps of the pass. Without one, nothing happens and the functions return 0. */
int begin_phase(Phase phase); /* whether end_phase() is to be called */
void end_phase(void);
int open_phases(void);           /* their number; -1: there is no step of a pass on this thread */
int end_step(int engine_is_due); /* whether another step has begun; the engine may process several steps at once */

/* names.c: functions of the module that begin and end scopes. */
extern PyMethodDef scope_functions[];
int is_main_thread(void); /* whether this is the thread that makes the steps, and they are observed */

/* step_events.c: functions of the module for the beginning and end of what a step consists of. */
extern PyMethodDef step_functions[];
typedef enum {
  kNotObserved, /* nothing is to be done for the call */
  kObserved,    /* it has a scope, and root_ends() is to be called on the main thread */
  kRaised       /* an exception is set */
} RootCall;
/* For a call of a module, or of a compiled function, outside of others. */
RootCall root_begins(PyObject* module, int is_function);
int root_ends(void); /* 0, or -1 with an exception set */
/* What Python does for an event. */
void note_phase_begin(Phase phase);
void note_phase_end(void);
/* `observation` has the methods root_begins(module) -> bool, root_ends(), backward_begins() -> bool,
 * backward_ends(in_phase), loading_begins() -> bool, loading_ends(in_phase), closure_begins() -> bool,
 * closure_ends(in_phase), optimizer_begins(optimizer), optimizer_ends(optimizer), optimizer_fails(optimizer),
 * scaler_stepped(optimizer), scaler_updated(), state_of_steps() -> tuple or None (see follow()) and take_over(state,
 * more_boundaries). `tracing` has the attribute tracing_context while torch compiles; calls of instances of the class
 * `graph_module` on other threads are not the program's own. */
void set_observation(PyObject* observation, PyObject* tracing, PyObject* graph_module);
void end_following(void);

/* requested_windows.c: functions of the module. */
extern PyMethodDef window_functions[];
/* Whether a requested window begins here, so many complete steps after window_begins() was called. */
int requested_window_begins(long more_steps);

#endif
