/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker engine for tests of the Python extension. Its token is a script of lines "KEY VALUE", its address a file to
 * which it appends one line for each event, with fields separated by tabs:
 *   file, description   arguments of load(); the description is JSON on one line
 *   workload            index; steps, verify: what to do; assignments: how often
 *   observe 1           also provide the functions for scopes and tags
 *   untimed 1           provide no functions for phases and work, as in a verify pass
 *   quiet 1             log no phases, and read the clock in them, as the real engine does
 *   log_steps 1         log where a step begins
 *   device_index N      the device is CUDA
 *   world_size, rendezvous_port, cancelled
 *   parameter           NAME TYPE VALUE, any number of times
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/kymo_engine.h"

enum { kMaxParameters = 32 };

struct kymo_context {
  FILE* log;
  int quiet, logs_steps;
  int is_open; /* a phase */
  int64_t begun_ns, phase_ns;
  kymo_placement placement;
  int cancelled;
  struct {
    char name[64], type[16], value[128];
  } parameters[kMaxParameters];
  int parameter_count;
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void record(kymo_context* context, const char* format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(context->log, format, values);
  va_end(values);
  fputc('\n', context->log);
  fflush(context->log); /* the process may end at any time */
}

static kymo_status parameter(kymo_context* context, const char* name, kymo_value* out) {
  for (int i = 0; i < context->parameter_count; ++i) {
    if (strcmp(context->parameters[i].name, name) != 0) continue;
    const char *type = context->parameters[i].type, *value = context->parameters[i].value;
    memset(out, 0, sizeof *out);
    out->text = value;
    out->integer = atoll(value);
    out->real = atof(value);
    out->boolean = strcmp(value, "true") == 0;
    out->type = strcmp(type, "int") == 0    ? KYMO_INT
                : strcmp(type, "real") == 0 ? KYMO_REAL
                : strcmp(type, "bool") == 0 ? KYMO_BOOL
                                            : KYMO_CHOICE;
    return KYMO_OK;
  }
  return KYMO_FAILED;
}
static const kymo_placement* placement(kymo_context* context) { return &context->placement; }
static uint64_t seed(kymo_context* context) {
  (void)context;
  return UINT64_MAX;
}
static kymo_status phase_begin(kymo_context* context, const char* name, void* stream) {
  if (context->is_open) return KYMO_FAILED;
  context->is_open = 1;
  if (!context->quiet) record(context, "phase_begin\t%s\t%zu", name, (size_t)stream);
  context->begun_ns = now_ns();
  return KYMO_OK;
}
static kymo_status phase_end(kymo_context* context) {
  context->phase_ns += now_ns() - context->begun_ns;
  context->is_open = 0;
  if (!context->quiet) record(context, "phase_end");
  return KYMO_OK;
}
static void scope_begin(kymo_context* context, const char* name) { record(context, "scope_begin\t%s", name); }
static void scope_end(kymo_context* context) { record(context, "scope_end"); }
static void work(kymo_context* context, const char* phase, double flops, double bytes) {
  record(context, "work\t%s\t%g\t%g", phase, flops, bytes);
}
static void operator_work(kymo_context* context, const char* name, const char* arguments, double flops, double bytes) {
  record(context, "operator_work\t%s\t%s\t%g\t%g", name, *arguments ? arguments : "-", flops, bytes);
}
static void metric_number(kymo_context* context, uint32_t level, const char* name, double value, const char* unit) {
  record(context, "metric\t%u\t%s\t%g\t%s", level, name, value, unit);
}
static void metric_text(kymo_context* context, uint32_t level, const char* name, const char* value) {
  record(context, "metric_text\t%u\t%s\t%s", level, name, value);
}
static void mark(kymo_context* context, const char* name) { record(context, "mark\t%s", name); }
static void tag(kymo_context* context, const void* address, uint64_t bytes, uint32_t category) {
  record(context, "tag\t%zu\t%llu\t%u", (size_t)address, (unsigned long long)bytes, category);
}
static uint64_t collective_begin(kymo_context* context, const kymo_collective* call) {
  const int counted = call->size < sizeof *call;
  record(context, "collective_begin\t%u\t%llu\t%zu\t%s\t%lld", call->operation, (unsigned long long)call->bytes,
         (size_t)call->stream, call->communicator ? call->communicator : "-", counted ? -1 : (long long)call->sequence);
  return 42;
}
static void collective_end(kymo_context* context, uint64_t handle) {
  record(context, "collective_end\t%llu", (unsigned long long)handle);
}
static kymo_status all_gather_bytes(kymo_context* context, const void* send, uint64_t bytes, void* receive) {
  record(context, "all_gather\t%llu", (unsigned long long)bytes);
  for (int rank = 0; rank < context->placement.world_size; ++rank)
    memcpy((char*)receive + (size_t)rank * bytes, send, bytes);
  return context->cancelled ? KYMO_FAILED : KYMO_OK;
}
static void log_message(kymo_context* context, uint32_t level, const char* message) {
  record(context, "log\t%u\t%s", level, message);
}
static void skip(kymo_context* context, const char* reason) { record(context, "skip\t%s", reason); }
static void fail(kymo_context* context, kymo_status status, const char* message) {
  record(context, "fail\t%d\t%s", status, message);
}
static int32_t cancelled(kymo_context* context) { return context->cancelled; }

/* The value of a line "KEY VALUE" of the script after `from`, or NULL. Copies it into `value`. */
static const char* next_line(const char* from, const char* key, char* value, size_t bytes) {
  const size_t length = strlen(key);
  for (const char* line = from; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    if (strncmp(line, key, length) != 0 || line[length] != ' ') continue;
    snprintf(value, bytes, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
    return line + length;
  }
  return NULL;
}

static long long number(const char* script, const char* key, long long missing) {
  char value[64];
  return next_line(script, key, value, sizeof value) ? atoll(value) : missing;
}

static kymo_host make_host(const char* script) {
  kymo_host host = {.size = sizeof host, .abi_major = KYMO_ABI_MAJOR, .abi_minor = KYMO_ABI_MINOR};
  host.parameter = parameter;
  host.placement = placement;
  host.seed = seed;
  host.metric_number = metric_number;
  host.metric_text = metric_text;
  host.mark = mark;
  host.all_gather_bytes = all_gather_bytes;
  host.log = log_message;
  host.skip = skip;
  host.fail = fail;
  host.cancelled = cancelled;
  if (number(script, "untimed", 0)) return host;
  host.phase_begin = phase_begin;
  host.phase_end = phase_end;
  host.collective_begin = collective_begin;
  host.collective_end = collective_end;
  host.work = work;
  if (!number(script, "observe", 0)) return host;
  host.scope_begin = scope_begin;
  host.scope_end = scope_end;
  host.operator_work = operator_work;
  host.tag = tag;
  return host;
}

static void set_up(kymo_context* context, const char* script, int rank) {
  char line[256];
  const long long cuda = number(script, "device_index", -1);
  context->quiet = (int)number(script, "quiet", 0);
  context->logs_steps = (int)number(script, "log_steps", 0);
  context->cancelled = (int)number(script, "cancelled", 0);
  context->placement = (kymo_placement){sizeof(kymo_placement),
                                        rank,
                                        (int32_t)number(script, "world_size", 1),
                                        rank,
                                        cuda < 0 ? KYMO_CPU : KYMO_CUDA,
                                        cuda < 0 ? 0 : (int32_t)cuda,
                                        "localhost",
                                        (uint32_t)number(script, "rendezvous_port", 0),
                                        0};
  for (const char* at = script; (at = next_line(at, "parameter", line, sizeof line));) {
    const int i = context->parameter_count++;
    sscanf(line, "%63s %15s %127[^\n]", context->parameters[i].name, context->parameters[i].type,
           context->parameters[i].value);
  }
}

static kymo_status verify(const kymo_workload* workload, void* instance, kymo_context* context) {
  kymo_verification found = {.size = sizeof found};
  const kymo_status status = workload->verify(instance, context, &found);
  for (uint32_t i = 0; status == KYMO_OK && i < found.check_count; ++i) {
    const kymo_check* check = &found.checks[i];
    record(context, "check\t%s\t%u\t%s\t%s\t%g\t%g\t%g", check->name, check->outcome, check->reference, check->detail,
           check->max_abs_error, check->max_rel_error, check->tolerance);
  }
  return status;
}

static kymo_status run_steps(const kymo_workload* workload, void* instance, kymo_context* context, long long steps) {
  int64_t total_ns = 0;
  for (long long i = 0; i < steps; ++i) {
    kymo_status status = workload->before_step ? workload->before_step(instance, context) : KYMO_OK;
    if (status != KYMO_OK) return status;
    if (context->logs_steps) record(context, "step");
    const int64_t start_ns = now_ns();
    status = workload->step(instance, context);
    total_ns += now_ns() - start_ns;
    if (status != KYMO_OK) record(context, "failed_in_phase\t%d", context->is_open);
    if (status != KYMO_OK) return status;
    if (context->is_open) record(context, "phase_left_open");
    context->is_open = 0;
  }
  if (steps > 0)
    record(context, "ns_per_step\t%g\t%g", (double)total_ns / (double)steps, (double)context->phase_ns / (double)steps);
  return KYMO_OK;
}

static kymo_status run(const kymo_workload* workload, const kymo_host* host, kymo_context* context,
                       const char* script) {
  void* instance = NULL;
  const char* stage = "create";
  kymo_status status = workload->create(workload, host, context, &instance);
  if (status == KYMO_OK) {
    stage = "prepare";
    status = workload->prepare(instance, context);
  }
  if (status == KYMO_OK && number(script, "verify", 0)) {
    stage = "verify";
    status = verify(workload, instance, context);
  }
  if (status == KYMO_OK) {
    stage = "step";
    status = run_steps(workload, instance, context, number(script, "steps", 1));
  }
  record(context, "ended\t%s\t%d", stage, status);
  if (instance) workload->destroy(instance);
  record(context, "destroyed\t%u", workload->flags);
  return status;
}

static void describe_table(kymo_context* context, const kymo_plugin* plugin) {
  record(context, "plugin\t%s\t%s\t%u", plugin->name, plugin->framework, plugin->workload_count());
  for (uint32_t i = 0; i < plugin->workload_count(); ++i) {
    const kymo_workload* workload = plugin->workload(i);
    record(context, "workload\t%s\t%u\t%u", workload->name, workload->flags, workload->devices);
    for (uint32_t j = 0; j < workload->phase_count; ++j) record(context, "phase\t%s", workload->phases[j]);
    for (uint32_t j = 0; j < workload->parameter_count; ++j)
      record(context, "parameter\t%s\t%u", workload->parameters[j].name, workload->parameters[j].type);
  }
  if (plugin->workload(plugin->workload_count())) record(context, "a workload beyond the last one");
}

static int32_t serve(const kymo_engine_options* options) {
  static char file[4096], description[1 << 20];
  char error[512] = "";
  const char* script = options->token;
  kymo_status status = KYMO_FAILED;
  kymo_context context = {.log = fopen(options->address, "a")};
  if (!context.log) return 2;
  if (!next_line(script, "file", file, sizeof file)) file[0] = '\0';
  if (!next_line(script, "description", description, sizeof description)) description[0] = '\0';
  set_up(&context, script, options->rank);
  record(&context, "serve\t%s\t%d\t%d", options->root, options->rank, options->process_start_ns > 0);
  const kymo_host host = make_host(script);
  for (long long i = 0; i < number(script, "assignments", 1); ++i) {
    const kymo_plugin* plugin = options->plugins->load(options->plugins->user, file, description, error, sizeof error);
    if (!plugin) {
      record(&context, "load_failed\t%s", error);
      break;
    }
    if (i == 0) describe_table(&context, plugin);
    status = run(plugin->workload((uint32_t)number(script, "workload", 0)), &host, &context, script);
    options->plugins->flush(options->plugins->user);
    record(&context, "flushed");
  }
  fclose(context.log);
  return status;
}

__attribute__((visibility("default"))) const kymo_engine* kymo_engine_v1(void) {
  static const kymo_engine engine = {sizeof(kymo_engine), KYMO_ABI_MAJOR, KYMO_ABI_MINOR, "test", serve};
  return &engine;
}
