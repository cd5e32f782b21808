// Errors as the payload of Answer::kError.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "sys/ipc/message.h"

namespace viaduct::ipc {

// Encodes an error with its message, its status, and the service's description of its own types of
// errors.
std::string EncodeError(const Service& service, const Error& error);
// Throws the subclass of Error for the status, sys::ExecuteError, or the error of
// Service::throw_error; ProtocolError if the payload is malformed.
[[noreturn]] void ThrowDecodedError(const Service& service, std::string_view payload);

}  // namespace viaduct::ipc
