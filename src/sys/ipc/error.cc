#include "sys/ipc/error.h"

#include <optional>

#include "base/text/json_text.h"
#include "sys/process/user_program.h"

namespace viaduct::ipc {
namespace {

using nlohmann::json;

struct Decoded {
  json value;
  std::string message;
  ExitStatus status;
  std::optional<int> execute;  // the error number of sys::ExecuteError
};

Decoded Decode(const Service& service, std::string_view payload) {
  try {
    Decoded error;
    error.value = DecodeJson(payload);
    error.message = Member<std::string>(error.value, "message");
    error.status = static_cast<ExitStatus>(Member<int>(error.value, "status"));
    if (error.value.contains("execute")) error.execute = Member<int>(error.value, "execute");
    return error;
  } catch (const UsageError& error) {
    throw ProtocolError(service, error.what());
  }
}

}  // namespace

std::string EncodeError(const Service& service, const Error& error) {
  json value = {{"message", error.what()}, {"status", static_cast<int>(error.status())}};
  if (const auto* execute = dynamic_cast<const sys::ExecuteError*>(&error)) {
    value["execute"] = execute->error_number();
  }
  if (service.describe_error != nullptr) {
    const json described = service.describe_error(error);
    if (!described.is_null()) value["described"] = described;
  }
  return JsonText(value);  // text of foreign origin (a file name) may not be UTF-8
}

void ThrowDecodedError(const Service& service, std::string_view payload) {
  const auto [value, message, status, execute] = Decode(service, payload);
  if (value.contains("described") && service.throw_error != nullptr) {
    service.throw_error(message, value["described"]);
  }
  if (execute) throw sys::ExecuteError(message, *execute);
  switch (status) {
    case ExitStatus::kUsage:
      throw UsageError(message);
    case ExitStatus::kEnvironment:
      throw EnvironmentError(message);
    default:
      throw Error(message);
  }
}

}  // namespace viaduct::ipc
