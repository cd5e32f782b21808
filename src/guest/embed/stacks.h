// Functions that switch between stacks (System V ABI, AMD64 supplement).
#pragma once

#include <cstddef>

// Saves the caller's stack position in `save` and continues at `load`, the position of an earlier
// call of this function or the result of NewStack().
extern "C" void viaduct_embed_switch(void** save, void* load);
// Calls a function with three word-sized arguments on the stack that ends at `end` (a multiple of
// 16), and returns when the function returns.
extern "C" void viaduct_embed_call_on(void* end, void* function, size_t a, void* b, void* c);

namespace viaduct::embed {

// Whether the stack switch is implemented for the processor of this build.
#ifdef __x86_64__
inline constexpr bool kCanSwitch = true;
#else
inline constexpr bool kCanSwitch = false;
#endif

// Returns the stack position for viaduct_embed_switch(), which then calls `start` on an empty stack
// that ends at `end`. `start` must never return.
void* NewStack(void* end, void (*start)());

}  // namespace viaduct::embed
