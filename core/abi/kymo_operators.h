/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C interface between kymo and a library with operators of its own, such as a library that registers operators with
 * LibTorch. The library exports one function, kymo_operator_work_v1, which returns the work of a call by its arguments.
 *
 * kymo looks for the function in each shared library of a process whose operators it records: in workers with plugins
 * and in observed programs. It calls the function once for each operator and its arguments, outside of timed code and
 * from one thread at a time. A library need not link kymo. What a workload declares with operator_work() takes
 * precedence.
 *
 * Compatibility: these structs never change. A later version has functions and structs with other names.
 */
#ifndef KYMO_OPERATORS_H
#define KYMO_OPERATORS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KYMO_OPERATOR_WORK_SYMBOL "kymo_operator_work_v1"

enum {
  KYMO_OTHER_ARGUMENT = 0, /* None, a floating-point number, text, ... */
  KYMO_TENSOR = 1,
  KYMO_TENSOR_LIST = 2,
  KYMO_INTEGERS = 3 /* an integer or a list of integers; booleans are 0 and 1 */
};

typedef struct kymo_operator_argument {
  uint32_t kind;         /* KYMO_OTHER_ARGUMENT ... */
  uint32_t count;        /* of `values` */
  const int64_t* values; /* sizes of a KYMO_TENSOR; KYMO_INTEGERS */
  const char* dtype;     /* of a tensor, as table op shows it, such as "bf16"; empty for a list of different types */
  double element_bytes;  /* of a tensor; 0 for an unknown type */
  double elements;       /* of a tensor, or of all tensors of a list */
  double bytes;          /* their memory: the elements along an expanded dimension count once */
} kymo_operator_argument;

typedef struct kymo_operator_call {
  const char* name;                        /* such as "mylib::scale" */
  const kymo_operator_argument* arguments; /* in the order of the schema */
  uint32_t argument_count; /* KYMO_OTHER_ARGUMENTs at the end are left out. 0: the arguments are not known */
  uint32_t reserved;
} kymo_operator_call;

/* The work of one call. core/analysis/operator_work.hpp defines how kymo counts LibTorch's operators. */
typedef struct kymo_operator_work {
  const char* kind;   /* as table op_work shows it, such as "matmul" or "elementwise"; NULL: unexpected arguments */
  const char* dtype;  /* the type that the operations are done for, such as that of an argument */
  double flops;       /* floating-point operations that are executed */
  double model_flops; /* without what is computed again; of a causal mask, all scores */
  double masked_model_flops; /* the same, but only the scores that the mask leaves */
  double bytes;              /* each operand is read once and each result is written once */
} kymo_operator_work;

/* Type of kymo_operator_work_v1. `out` is zeroed. Returns 0 if the operator does not belong to the library. Strings in
 * `out` must be valid until the next call. */
typedef int32_t (*kymo_operator_work_function)(const kymo_operator_call*, kymo_operator_work* out);

#ifdef __cplusplus
}
#endif
#endif /* KYMO_OPERATORS_H */
