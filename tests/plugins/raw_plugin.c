/* SPDX-License-Identifier: Apache-2.0 */
/* A complete plugin in C, without the C++ SDK. Macros make one property invalid at a time; see CMakeLists.txt. */
#include <kymo_plugin.h>
#include <stddef.h>
#include <stdlib.h>

#ifndef MAGIC
#define MAGIC KYMO_NOTE_MAGIC
#endif
#ifndef MAJOR
#define MAJOR KYMO_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR KYMO_ABI_MINOR
#endif
#ifndef TABLE_MINOR
#define TABLE_MINOR MINOR
#endif
#ifndef FRAMEWORK
#define FRAMEWORK ""
#endif
#ifndef FRAMEWORK_VERSION
#define FRAMEWORK_VERSION ""
#endif
#ifndef TABLE_FRAMEWORK
#define TABLE_FRAMEWORK FRAMEWORK
#endif
#ifndef NOTE_SIZE
#define NOTE_SIZE sizeof(kymo_note)
#endif
#ifndef WORKLOAD_SIZE
#define WORKLOAD_SIZE sizeof(kymo_workload)
#endif
#ifndef FAMILY
#define FAMILY "sums"
#endif
#ifdef HOSTILE_NAME
#define NAME "a'; DROP TABLE run; --"
#else
#define NAME KYMO_PLUGIN_NAME
#endif
#if defined(HOSTILE_TEXT)
#define DOCUMENTATION "<script>alert(1)</script> \\input{x} =cmd 'quote'\n\"second line\""
#elif defined(NOT_UTF8)
#define DOCUMENTATION "\xff\xfe"
#else
#define DOCUMENTATION "adds up whole numbers"
#endif
#ifndef DEFAULT
#define DEFAULT 10
#endif
#ifndef PHASE
#define PHASE "compute"
#endif
#ifndef STEP
#define STEP step
#endif
#ifndef ENTRY
#define ENTRY kymo_plugin_v2
#endif

#ifndef WITHOUT_NOTE
static const struct {
  uint32_t name_size, content_size, type;
  char name[8];
  kymo_note content;
} note __attribute__((used, section(".note.kymo"), aligned(4))) = {
    sizeof KYMO_NOTE_NAME,
    NOTE_SIZE,
    KYMO_NOTE_TYPE,
    KYMO_NOTE_NAME,
    {MAGIC, NOTE_SIZE, MAJOR, MINOR, FRAMEWORK, FRAMEWORK_VERSION, "", "cc", "cxx11"},
};
#endif

typedef struct instance {
  const kymo_host* host;
  int64_t n;
  volatile int64_t sum;
} instance;

static instance the_instance;
static kymo_check the_check;

static kymo_status create(const kymo_workload* table, const kymo_host* host, kymo_context* context, void** out) {
  (void)table;
  (void)context;
  the_instance.host = host;
  *out = &the_instance;
  return KYMO_OK;
}

static kymo_status prepare(void* self, kymo_context* context) {
  instance* it = self;
  kymo_value value;
  if (it->host->parameter(context, "n", &value) != KYMO_OK) return KYMO_FAILED;
  it->n = value.integer;
  return KYMO_OK;
}

static kymo_status before_step(void* self, kymo_context* context) {
  (void)context;
  ((instance*)self)->sum = 0;
  return KYMO_OK;
}

__attribute__((unused)) static kymo_status step(void* self, kymo_context* context) {
  instance* it = self;
  if (it->host->phase_begin && it->host->phase_begin(context, PHASE, NULL) != KYMO_OK) return KYMO_FAILED;
  for (int64_t i = 1; i <= it->n; ++i) it->sum += i;
  if (it->host->phase_end) it->host->phase_end(context);
  return KYMO_OK;
}

static kymo_status verify(void* self, kymo_context* context, kymo_verification* out) {
  instance* it = self;
  (void)context;
  it->sum = 0;
  for (int64_t i = 1; i <= it->n; ++i) it->sum += i;
  the_check = (kymo_check){sizeof(kymo_check), KYMO_CHECK_FAILED, "sum", "n * (n + 1) / 2", "", 0, 0, 0};
  if (it->sum == it->n * (it->n + 1) / 2) the_check.outcome = KYMO_CHECK_PASSED;
  out->check_count = 1;
  out->checks = &the_check;
  return KYMO_OK;
}

static void destroy(void* self) { (void)self; }

static const kymo_parameter parameters[] = {{
    .size = sizeof(kymo_parameter),
    .type = KYMO_INT,
    .name = "n",
    .unit = "numbers",
    .documentation = "how many numbers are added",
    .default_value = {KYMO_INT, 0, DEFAULT, 0, NULL},
    .has_minimum = 1,
    .minimum = 0,
    .title = "{} numbers",
    .flags = KYMO_TITLE_AT_DEFAULT | KYMO_SETTING,
}};
static const char* const phases[] = {PHASE};
static const kymo_workload workload = {
    .size = WORKLOAD_SIZE,
    .name = NAME,
    .documentation = DOCUMENTATION,
    .parameters = parameters,
    .parameter_count = 1,
    .phase_count = 1,
    .phases = phases,
    .devices = KYMO_CPU,
    .min_ranks = 1,
    .create = create,
    .prepare = prepare,
    .before_step = before_step,
    .step = STEP,
    .verify = verify,
    .destroy = destroy,
    .title = "",
    .family = FAMILY,
    .family_order = 3,
};

static uint32_t workload_count(void) { return 1; }
static const kymo_workload* workload_at(uint32_t index) { return index == 0 ? &workload : NULL; }

__attribute__((unused)) static const kymo_plugin plugin = {
    sizeof(kymo_plugin), MAJOR, TABLE_MINOR, KYMO_PLUGIN_NAME, "1", TABLE_FRAMEWORK, workload_count, workload_at};

#ifdef ABORTS_WHEN_LOADED
__attribute__((constructor)) static void abort_when_loaded(void) { abort(); }
#endif

__attribute__((visibility("default"))) const kymo_plugin* ENTRY(void) {
#ifdef WITHOUT_TABLE
  return NULL;
#else
  return &plugin;
#endif
}
