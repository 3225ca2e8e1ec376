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

/* The host functions of the pass; NULL outside of it. */
extern const kymo_host* recording_host;
extern kymo_context* recording_context;

/* program.c: the phases and steps of the pass. Without a pass, the functions do nothing and return 0. */
int begin_phase(Phase phase); /* whether a phase has begun, which end_phase() ends */
void end_phase(void);
int open_phases(void);           /* number of open phases; -1: no step of a pass runs on this thread */
int end_step(int engine_is_due); /* whether another step has begun. `engine_is_due`: do not defer the engine's part */

/* names.c: functions of the module that begin and end scopes. */
extern PyMethodDef scope_functions[];
int is_main_thread(void); /* whether this is the thread that makes the steps, and they are observed */

/* step_events.c: functions of the module, and the events of steps. */
extern PyMethodDef step_functions[];
int add_event_functions(PyObject* module); /* 0, or -1 with an exception set */
/* Begins a root call of a module or compiled function. 1: it has a scope, and on the main thread the caller must call
 * root_ends(); 0: the call is not observed; -1: an exception is set. */
int root_begins(PyObject* module, int is_function);
int root_ends(void); /* 0, or -1 with an exception set */
/* Records that Python has begun a phase for the current event, or has ended one: kPhaseEnds. */
void record_effect(Phase effect);
/* `observation` has a method for each event: *_begins(...) -> bool, *_ends(in_phase), root_ends(), the others with the
 * same arguments as here; also state_number(open_phases) -> int (see follow()) and take_over(state_number,
 * more_boundaries). `tracing` has the attribute tracing_context while torch compiles. Calls of instances of the class
 * `graph_module` on other threads are not observed. */
void set_observation(PyObject* observation, PyObject* tracing, PyObject* graph_module);
void end_following(void);

/* pass_records.c: functions of the module. */
extern PyMethodDef record_functions[];

/* requested_windows.c: functions of the module. */
extern PyMethodDef window_functions[];
/* Whether a requested window begins here, `more_steps` complete steps after the last call of window_begins(). */
int requested_window_begins(long more_steps);

#endif
