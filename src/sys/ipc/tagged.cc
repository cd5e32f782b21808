#include "sys/ipc/tagged.h"

#include "base/text/json_text.h"

namespace viaduct::ipc {

void ThrowUnknown(const Dialogue& dialogue, const std::string& what) {
  throw Error(fmt::format("{} sent an unexpected message ({}): {}", dialogue.sender, what,
                          dialogue.advice));
}

std::string TagOf(const Dialogue& dialogue, const nlohmann::json& message) {
  const auto name = message.is_object() ? message.find(dialogue.tag) : message.end();
  if (name == message.end() || !name->is_string()) {
    throw Error(fmt::format("{} sent a malformed message: {}", dialogue.sender,
                            JsonText(message).substr(0, 200)));
  }
  return name->get<std::string>();
}

}  // namespace viaduct::ipc
