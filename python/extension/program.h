/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the CPython extension kymo_trace._program: the scopes of modules, and the engine that observes the program.
 * All functions are called with the GIL, which also protects what they share.
 */
#ifndef KYMO_PROGRAM_H
#define KYMO_PROGRAM_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kymo_plugin.h>

/* The host functions of the pass, while it records scopes; NULL otherwise. */
extern const kymo_host* recording_host;
extern kymo_context* recording_context;

/* names.c: functions of the module that begin and end scopes. */
extern PyMethodDef scope_functions[];

#endif
