#include "engine/control_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace viaduct::engine {
namespace {

using nlohmann::json;

std::string Text(const std::string& key, const json& value) {
  if (!value.is_string()) throw UsageError(fmt::format("\"{}\" must be a string", key));
  return value.get<std::string>();
}

ControlRequest::Kind ParseKind(const std::string& word) {
  if (word == "stats") return ControlRequest::Kind::kStats;
  if (word == "set") return ControlRequest::Kind::kSet;
  throw UsageError(fmt::format("unknown request \"{}\"; there are stats and set", word));
}

// The members of a request besides its kind.
constexpr std::pair<const char*, std::optional<std::string> ControlRequest::*> kMembers[] = {
    {"pair", &ControlRequest::pair},
    {"class", &ControlRequest::class_name},
    {"up", &ControlRequest::up},
    {"down", &ControlRequest::down}};

void Check(const ControlRequest& request) {
  if (request.kind == ControlRequest::Kind::kSet) {
    if (!request.up && !request.down) throw UsageError("set: give \"up\", \"down\" or both");
  } else if (std::any_of(std::begin(kMembers), std::end(kMembers),
                         [&](const auto& member) { return request.*member.second; })) {
    throw UsageError("stats has no other members");
  }
}

}  // namespace

ControlRequest ParseRequest(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) throw UsageError("a request is one JSON object per line");
  const auto kind = object.find("request");
  if (kind == object.end()) throw UsageError("\"request\" is missing: stats or set");
  ControlRequest request;
  request.kind = ParseKind(Text("request", *kind));
  for (const auto& item : object.items()) {
    const std::string& key = item.key();
    if (key == "request") continue;
    const auto member = std::find_if(std::begin(kMembers), std::end(kMembers),
                                     [&](const auto& each) { return each.first == key; });
    if (member == std::end(kMembers)) throw UsageError(fmt::format("unknown member \"{}\"", key));
    request.*member->second = Text(key, item.value());
  }
  Check(request);
  return request;
}

json EncodeRequest(const ControlRequest& request) {
  json object = {{"request", request.kind == ControlRequest::Kind::kSet ? "set" : "stats"}};
  for (const auto& [name, member] : kMembers) {
    if (request.*member) object[name] = *(request.*member);
  }
  return object;
}

bool LineBuffer::Add(std::string_view bytes) {
  text_.append(bytes);
  return text_.size() <= max_line_ || text_.find('\n') <= max_line_;
}

std::optional<std::string> LineBuffer::Next() {
  const size_t end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace viaduct::engine
