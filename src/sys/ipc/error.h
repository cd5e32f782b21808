// Encodes errors as the payload of Answer::kError, and decodes them.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "sys/ipc/message.h"

namespace viaduct::ipc {

// Encodes an error with its message, its status, and the members by which the service describes its
// own types of errors.
std::string EncodeError(const Service& service, const Error& error);
// Decodes an error and throws it: as the error of Service::throw_error, as sys::ExecuteError, or as
// the subclass of Error for the status. Throws ProtocolError if the payload is malformed.
[[noreturn]] void ThrowDecodedError(const Service& service, std::string_view payload);

}  // namespace viaduct::ipc
