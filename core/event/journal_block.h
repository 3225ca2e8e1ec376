/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a journal, which observed programs write, too. */
#ifndef KYMO_EVENT_JOURNAL_BLOCK_H
#define KYMO_EVENT_JOURNAL_BLOCK_H

#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The head of a block; the content follows. */
typedef struct kymo_block_head {
  uint32_t kind;     /* written last: 0 if the block is not complete */
  uint32_t bytes;    /* of the content */
  uint32_t addition; /* from 1 in each file; blocks that were added together have the same number */
  uint32_t checksum; /* kymo_block_checksum() */
} kymo_block_head;

/* The checksum of a block whose head is at `offset` in its file, so that a block that was moved or repeated does not
 * match either. Only `head->checksum` need not be set. */
static inline uint32_t kymo_block_checksum(const kymo_block_head* head, uint64_t offset, const void* content) {
  const uint64_t seed = offset ^ (uint64_t)head->addition << 26 ^ (uint64_t)head->kind << 58;
  return (uint32_t)XXH3_64bits_withSeed(content, head->bytes, seed);
}

#ifdef __cplusplus
}
#endif
#endif /* KYMO_EVENT_JOURNAL_BLOCK_H */
