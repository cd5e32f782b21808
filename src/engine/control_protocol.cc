#include "engine/control_protocol.h"

#include <fmt/format.h>

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

void Check(const ControlRequest& request) {
  const bool is_change = request.up || request.down;
  const bool is_set = request.kind == ControlRequest::Kind::kSet;
  if (is_set && !is_change) throw UsageError("set: give \"up\", \"down\" or both");
  if (!is_set && (is_change || request.pair || !request.class_name.empty())) {
    throw UsageError("stats takes nothing else");
  }
}

}  // namespace

ControlRequest ParseRequest(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) throw UsageError("a request is one JSON object a line");
  const auto kind = object.find("request");
  if (kind == object.end()) throw UsageError("\"request\" is missing: stats or set");
  ControlRequest request;
  request.kind = ParseKind(Text("request", *kind));
  for (const auto& [key, value] : object.items()) {
    if (key == "pair") {
      request.pair = Text(key, value);
    } else if (key == "class") {
      request.class_name = Text(key, value);
    } else if (key == "up") {
      request.up = Text(key, value);
    } else if (key == "down") {
      request.down = Text(key, value);
    } else if (key != "request") {
      throw UsageError(fmt::format("unknown member \"{}\"", key));
    }
  }
  Check(request);
  return request;
}

json EncodeRequest(const ControlRequest& request) {
  json object = {{"request", request.kind == ControlRequest::Kind::kSet ? "set" : "stats"}};
  if (request.pair) object["pair"] = *request.pair;
  if (!request.class_name.empty()) object["class"] = request.class_name;
  if (request.up) object["up"] = *request.up;
  if (request.down) object["down"] = *request.down;
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
