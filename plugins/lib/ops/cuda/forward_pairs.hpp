// SPDX-License-Identifier: Apache-2.0
// Static schedule of the pipelined query tiles (hopper_forward_pipelined.cuh) with a causal mask, where the last tiles
// of a head are the longest.
//
// First come pairs of the longest and the shortest tile of a head (of two heads, if a head has an odd number of tiles),
// then the next longest and next shortest, and so on, so that each pair is the same amount of work. After full rounds
// of pairs, the remaining pairs would keep some blocks busy for one pair longer than others. If they consist of whole
// heads, few enough for L2 and for at most half of the blocks to start with different keys, the longest tiles of all
// these heads come first, round by round, with every second round reversed. Otherwise, some blocks get a pair and the
// others a single tile.
#pragma once
#include "forward_splits.hpp"

namespace kymo::flash {

struct ForwardPairs {
  int heads, row_tiles, tiles;  // row_tiles: of a head
  int paired;                   // tiles scheduled as full rounds of pairs of whole heads; 0: pairs as far as possible

  struct TileCoord {
    int head, row_tile;
  };
  /// Index of the block's tile in this round; `tiles` or more: the block is done.
  KYMO_HOST_AND_DEVICE int number(int round, int block, int blocks) const {
    const int even_rounds = paired ? paired / blocks : tiles / (2 * blocks) * 2, in_pair = round & 1;
    if (round < even_rounds) return (round - in_pair) * blocks + 2 * block + in_pair;
    if (paired) return round * blocks + (in_pair ? blocks - 1 - block : block);
    const int first = even_rounds * blocks, more = tiles - first - blocks, pairs = more > 0 ? more : 0;
    if (block < pairs) return round < even_rounds + 2 ? first + 2 * block + in_pair : tiles;
    return round == even_rounds ? first + pairs + block : tiles;
  }
  KYMO_HOST_AND_DEVICE TileCoord coord(int number) const {
    if (paired && number >= paired) {
      const int first = paired / row_tiles, rest = number - paired, row = rest / (heads - first);
      return {first + rest - row * (heads - first), row_tiles - 1 - row};
    }
    const int wide = 1 + (row_tiles & 1), set = number / (wide * row_tiles), in_set = number - set * wide * row_tiles,
              second = in_set & 1;
    const int head = wide * set + (wide * set + 1 < heads ? second * (wide - 1) : 0);
    return {head, second ? in_set / 2 : row_tiles - 1 - in_set / 2};
  }
};

/// heads_in_l2: number of heads whose keys and values fit in L2. If there are many rounds of pairs, one round less is
/// used, which leaves enough tiles for balancing.
inline ForwardPairs forward_pairs(int heads, int row_tiles, int blocks, int heads_in_l2) {
  ForwardPairs all{heads, row_tiles, heads * row_tiles, 0};
  const int set = row_tiles * (1 + row_tiles % 2), full_rounds = all.tiles / (2 * blocks);
  int rounds = full_rounds - (full_rounds >= 12 ? 1 : 0);
  while (rounds > 0 && 2 * blocks * rounds % set != 0) --rounds;
  const int paired = 2 * blocks * rounds, left = (all.tiles - paired) / row_tiles;
  if (left <= heads_in_l2 && left <= blocks / 2) all.paired = paired;
  return all;
}

}  // namespace kymo::flash
