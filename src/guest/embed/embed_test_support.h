// The place of a guest, for tests without a kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "guest/embed/context.h"
#include "guest/embed/stacks.h"

namespace viaduct::embed {

// Whether stack switches can be followed; sanitizers cannot follow them.
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

  // Lets `start` run in the place of a guest's main().
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
