#include "guest/embed/stacks.h"

#include <cstdint>

#ifdef __x86_64__
// Saves and restores the six registers that a called function must preserve. A called function must
// also preserve the floating-point control words, but neither side ever changes them.
asm(R"(
.text
.globl viaduct_embed_switch
.type viaduct_embed_switch,@function
viaduct_embed_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size viaduct_embed_switch,.-viaduct_embed_switch

.globl viaduct_embed_call_on
.type viaduct_embed_call_on,@function
viaduct_embed_call_on:
  pushq %rbp
  movq %rsp, %rbp
  movq %rdi, %rsp
  movq %rsi, %rax
  movq %rdx, %rdi
  movq %rcx, %rsi
  movq %r8, %rdx
  call *%rax
  movq %rbp, %rsp
  popq %rbp
  ret
.size viaduct_embed_call_on,.-viaduct_embed_call_on
)");
#else
extern "C" void viaduct_embed_switch(void**, void*) {}
extern "C" void viaduct_embed_call_on(void*, void*, size_t, void*, void*) {}
#endif

namespace viaduct::embed {

void* NewStack(void* end, void (*start)()) {
  constexpr int kSavedRegisters = 6;
  auto** top = static_cast<void**>(end);
  // The return address of `start`, which never returns. The word aligns the stack as a call does.
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(start);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = nullptr;
  return top;
}

}  // namespace viaduct::embed
