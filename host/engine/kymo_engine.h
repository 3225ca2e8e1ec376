/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C interface of the worker engine, libkymo_engine.so: runs the assignments of a `kymo run` in this process, with
 * workloads that the process itself provides, such as those of a Python file. The library exports one symbol,
 * kymo_engine_v1. Structs only grow at the end; each stores its size.
 */
#ifndef KYMO_ENGINE_H
#define KYMO_ENGINE_H

#include <kymo_plugin.h>
#include <stdint.h>

#include "event/step_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KYMO_ENGINE_SYMBOL "kymo_engine_v1"

/* Provides the plugins of assignments. The functions are called on the thread that called serve(). */
typedef struct kymo_engine_plugins {
  uint32_t size; /* sizeof(kymo_engine_plugins) */
  uint32_t reserved;
  void* user; /* first argument of the functions */
  /* Returns the table of `file`, valid until serve() returns. `description` is the JSON object that describing the file
   * printed. Called once, because a worker serves one file, and before collectors are armed, so it must not run the
   * workload's own code yet.
   * On failure writes a message of up to `error_bytes` bytes, including its terminating zero, to `error` and returns
   * NULL. */
  const kymo_plugin* (*load)(void* user, const char* file, const char* description, char* error, uint64_t error_bytes);
  /* Writes buffered output of the process to its file descriptors. Called before the outcome of an assignment is sent.
   */
  void (*flush)(void* user);
} kymo_engine_plugins;

enum {
  /* Status of step() in an observed program: it ended before the step was complete. The pass ends and keeps the steps
   * before. */
  KYMO_ENGINE_PROGRAM_ENDED = 1000
};

typedef struct kymo_engine_options {
  uint32_t size; /* sizeof(kymo_engine_options) */
  int32_t rank;
  const char* address;      /* of the control server: HOST:PORT, or the path of a socket */
  const char* token;        /* authenticates the worker */
  const char* root;         /* directory of the kymo installation; contains lib/kymo/modules */
  int64_t process_start_ns; /* CLOCK_MONOTONIC_RAW: origin of the times of the first assignment */
  const kymo_engine_plugins* plugins;
  uint32_t reserved;
  int32_t ranks; /* of the process group that an observed program has made; 0: not known, or a worker */
  /* NULL: the process is a worker. Otherwise it is a program that is observed: serve() runs a single assignment,
   * returns if the connection is lost, and leaves signal handlers and settings of malloc alone. */
  kymo_step_records* step_records;
  /* Version of the torch that an observed program has imported. NULL: a worker, whose plugin's description says it. */
  const char* torch_version;
} kymo_engine_options;

typedef struct kymo_engine {
  uint32_t size;                 /* sizeof(kymo_engine) */
  uint16_t abi_major, abi_minor; /* of the plugin tables that it accepts */
  const char* version;           /* of kymo */
  /* Runs assignments until the supervisor ends the worker. Returns the exit code for the process. Ends the process if
   * the connection is lost, except in an observed program. */
  int32_t (*serve)(const kymo_engine_options*);
} kymo_engine;

typedef const kymo_engine* (*kymo_engine_entry)(void);

#ifdef __cplusplus
}
#endif
#endif /* KYMO_ENGINE_H */
