// A service for tests.
#pragma once

#include "sys/ipc/message.h"

namespace viaduct::ipc::test {

inline constexpr Service kTalk = {"talk", 3};

}  // namespace viaduct::ipc::test
