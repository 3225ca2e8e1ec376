/* SPDX-License-Identifier: Apache-2.0 */
/* ELF note of a plugin (section .note.kymo). The host reads it without loading the library. */
#ifndef KYMO_NOTE_H
#define KYMO_NOTE_H

#include <stdint.h>

#define KYMO_NOTE_NAME "kymo"
#define KYMO_NOTE_TYPE 1
#define KYMO_NOTE_MAGIC "KYMOPLG"

/* Contents of the ELF note. Strings are zero-padded; an empty string means that the plugin does not use the
 * component. */
typedef struct kymo_note {
  char magic[8]; /* KYMO_NOTE_MAGIC */
  uint32_t size; /* sizeof(kymo_note) */
  uint16_t abi_major;
  uint16_t abi_minor;
  char framework[16];         /* "libtorch" or empty */
  char framework_version[24]; /* "2.11.0" */
  char cuda_version[16];      /* "13.0" */
  char compiler[32];          /* "gcc 12.2.0" */
  char cxx_abi[16];           /* "cxx11" */
} kymo_note;

#endif /* KYMO_NOTE_H */
