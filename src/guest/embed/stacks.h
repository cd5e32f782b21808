// Switching between stacks (System V ABI, AMD64 supplement).
#pragma once

#include <cstddef>

// Saves the caller's place and continues at another: that of an earlier call, or of NewStack().
extern "C" void viaduct_embed_switch(void** save, void* load);
// Calls a function of three words on another stack, which ends at `end` (a multiple of 16), and
// returns.
extern "C" void viaduct_embed_call_on(void* end, void* function, size_t a, void* b, void* c);

namespace viaduct::embed {

// Whether the code for this processor is here.
#ifdef __x86_64__
inline constexpr bool kCanSwitch = true;
#else
inline constexpr bool kCanSwitch = false;
#endif

// Returns the place from which `start`, which never returns, begins on an empty stack that ends at
// `end`.
void* NewStack(void* end, void (*start)());

}  // namespace viaduct::embed
