#include "path/engine/control_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"

namespace viaduct::engine {
namespace {

using nlohmann::json;

std::string Text(const std::string& key, const json& value) {
  if (!value.is_string()) throw UsageError(fmt::format("\"{}\" must be a string", key));
  return value.get<std::string>();
}

using Member = std::optional<std::string> ControlRequest::*;

// The members of a request in addition to its kind.
constexpr std::pair<const char*, Member> kMembers[] = {
    {"pair", &ControlRequest::pair}, {"class", &ControlRequest::class_name},
    {"up", &ControlRequest::up},     {"down", &ControlRequest::down},
    {"node", &ControlRequest::node}, {"address", &ControlRequest::address}};

struct Shape {
  const char* word;
  ControlRequest::Kind kind;
  std::vector<Member> may, must;
};

const std::vector<Shape>& Shapes() {
  using Kind = ControlRequest::Kind;
  static const std::vector<Shape> shapes = {
      {"stats", Kind::kStats, {}, {}},
      {"set",
       Kind::kSet,
       {&ControlRequest::pair, &ControlRequest::class_name, &ControlRequest::up,
        &ControlRequest::down},
       {}},
      {"hub", Kind::kHub, {}, {}},
      {"clients", Kind::kClients, {}, {}},
      {"claim", Kind::kClaim, {}, {&ControlRequest::node, &ControlRequest::address}},
      {"release", Kind::kRelease, {}, {&ControlRequest::node}}};
  return shapes;
}

const Shape& ShapeOf(ControlRequest::Kind kind) {
  return *std::ranges::find(Shapes(), kind, &Shape::kind);
}

ControlRequest::Kind ParseKind(const std::string& word) {
  const auto shape =
      std::ranges::find_if(Shapes(), [&](const Shape& each) { return each.word == word; });
  if (shape != Shapes().end()) return shape->kind;
  throw UsageError(fmt::format("unknown request \"{}\"; expected stats or set", word));
}

void Check(const ControlRequest& request) {
  const Shape& shape = ShapeOf(request.kind);
  const auto is_in = [](const std::vector<Member>& members, Member member) {
    return std::ranges::find(members, member) != members.end();
  };
  for (const auto& [name, member] : kMembers) {
    if (is_in(shape.must, member) && !(request.*member)) {
      throw UsageError(fmt::format("{}: \"{}\" is missing", shape.word, name));
    }
    if (request.*member && !is_in(shape.must, member) && !is_in(shape.may, member)) {
      throw UsageError(
          shape.may.empty() && shape.must.empty()
              ? fmt::format("request {} accepts no members except \"request\"", shape.word)
              : fmt::format("request {} does not accept member \"{}\"", shape.word, name));
    }
  }
  if (request.kind == ControlRequest::Kind::kSet && !request.up && !request.down) {
    throw UsageError("set: specify \"up\", \"down\" or both");
  }
}

}  // namespace

ControlRequest ParseRequest(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) throw UsageError("invalid request; expected one JSON object per line");
  const auto kind = object.find("request");
  if (kind == object.end()) throw UsageError("\"request\" is missing; expected stats or set");
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
  json object = {{"request", ShapeOf(request.kind).word}};
  for (const auto& [name, member] : kMembers) {
    if (request.*member) object[name] = *(request.*member);
  }
  return object;
}

}  // namespace viaduct::engine
