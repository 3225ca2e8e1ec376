/* SPDX-License-Identifier: Apache-2.0 */
/* A library with the operators mylib::scale, whose work depends on its arguments, and mylib::strange. */
#include <kymo_operators.h>
#include <string.h>

__attribute__((visibility("default"))) int32_t kymo_operator_work_v1(const kymo_operator_call* call,
                                                                     kymo_operator_work* out) {
  const kymo_operator_argument* const first = call->arguments;
  if (strcmp(call->name, "mylib::strange") == 0) {
    *out = (kymo_operator_work){"spinning", "f32", 1, 1, 1, 1};
    return 1;
  }
  if (strcmp(call->name, "mylib::scale") != 0) return 0;
  if (call->argument_count < 4 || first->kind != KYMO_TENSOR || first[1].kind != KYMO_INTEGERS ||
      first[2].kind != KYMO_OTHER_ARGUMENT || first[3].kind != KYMO_TENSOR_LIST)
    return 1;
  const double sum = (double)(first->values[first->count - 1] + first[1].values[0]);
  *out = (kymo_operator_work){"elementwise",   first->dtype,         sum,
                              first->elements, first->element_bytes, first->bytes + first[3].bytes};
  return 1;
}
