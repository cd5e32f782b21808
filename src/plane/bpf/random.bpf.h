/* The random generator of base/random.h for eBPF programs: the same state, the same numbers. */
#pragma once

#include <linux/types.h>

static __always_inline __u64 rotate_left(__u64 word, int bits) {
  return word << bits | word >> (64 - bits);
}

/* Returns the next random number, by xoshiro256++ 1.0 (Blackman and Vigna, 2019). */
static __always_inline __u64 next_random(__u64 state[4]) {
  const __u64 result = rotate_left(state[0] + state[3], 23) + state[0];
  const __u64 shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotate_left(state[3], 45);
  return result;
}
