// libviaduct-random.so, which is preloaded into guest kernels: its getrandom(2), a guest's only
// source of randomness (arch/um/include/asm/archrandom.h), returns the numbers that splitmix64
// draws from the seed UML_SEED.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

static uint64_t Next(void) {
  static uint64_t state;
  static int seeded;
  if (!seeded) {
    const char* seed = getenv("UML_SEED");
    state = seed != NULL ? strtoull(seed, NULL, 0) : 0;
    seeded = 1;
  }
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

ssize_t getrandom(void* buffer, size_t length, unsigned flags) {
  (void)flags;
  unsigned char* bytes = buffer;
  for (size_t i = 0; i < length; ++i) bytes[i] = (unsigned char)Next();
  return (ssize_t)length;
}
