// A fixture for tests of an embedded guest's parts without a kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "guest/embed/context.h"
#include "guest/embed/stacks.h"

namespace viaduct::embed {

// True if the build's instrumentation supports stack switches; sanitizers cannot follow stack
// switches.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kFollowed = false;
#else
inline constexpr bool kFollowed = kCanSwitch;
#endif

class EmbedTest : public testing::Test {
 protected:
  void SetUp() override { SetContext(&context_); }
  void TearDown() override {
    CleanUp(context_);
    SetContext(nullptr);
  }

  // Runs `start` on the guest's stack, as the guest's main() runs.
  void Begin(void (*start)()) {
    constexpr size_t kSize = size_t{1} << 18;
    stack_.resize(kSize);
    const auto end = reinterpret_cast<uintptr_t>(stack_.data() + kSize) & ~uintptr_t{15};
    context_.guest_place = NewStack(reinterpret_cast<void*>(end), start);
    LetRun();
  }
  void LetRun() {
    ++context_.switches;
    context_.inside = true;
    viaduct_embed_switch(&context_.simulator_place, context_.guest_place);
    context_.inside = false;
  }

  Context context_;
  std::vector<char> stack_;
};

}  // namespace viaduct::embed
