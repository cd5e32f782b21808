#include "sys/ipc/error.h"

#include "base/text/json_text.h"
#include "sys/process/user_program.h"

namespace viaduct::ipc {
namespace {

using nlohmann::json;

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
  return JsonText(value);  // text of foreign origin (a file name) may be no UTF-8
}

void ThrowDecodedError(const Service& service, std::string_view payload) {
  const json value = DecodeJson(payload);
  const auto message = Member<std::string>(value, "message");
  if (value.contains("described") && service.throw_error != nullptr) {
    service.throw_error(message, value["described"]);
  }
  if (value.contains("execute")) {
    throw sys::ExecuteError(message, Member<int>(value, "execute"));
  }
  switch (static_cast<ExitStatus>(Member<int>(value, "status"))) {
    case ExitStatus::kUsage:
      throw UsageError(message);
    case ExitStatus::kEnvironment:
      throw EnvironmentError(message);
    default:
      throw Error(message);
  }
}

}  // namespace viaduct::ipc
