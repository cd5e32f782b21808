// Errors as the payload of Answer::kError.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "sys/ipc/message.h"

namespace viaduct::ipc {

// Encodes an error with its message, its status, and what the service describes of its own types.
std::string EncodeError(const Service& service, const Error& error);
// Throws the subclass of Error that the status stands for, sys::ExecuteError, or what
// Service::throw_error does; ProtocolError if the payload is malformed.
[[noreturn]] void ThrowDecodedError(const Service& service, std::string_view payload);

}  // namespace viaduct::ipc
