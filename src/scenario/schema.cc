// Generates the JSON Schema of the scenario file from the table of keys, for editors and other
// programs (https://json-schema.org/draft-07). The schema accepts everything that the parser
// accepts; the parser checks more.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text/markdown.h"
#include "scenario/keys.h"

namespace viaduct::scenario {
namespace {

using nlohmann::ordered_json;

ordered_json SectionSchema(std::string_view path);

// Accepts any scalar, because YAML texts that look like numbers need no quotes, and null, because a
// key without a value counts as absent.
ordered_json Scalar() { return {{"type", {"string", "number", "boolean", "null"}}}; }
ordered_json ListOf(const ordered_json& items) {
  return {{"type", {"array", "null"}}, {"items", items}};
}
ordered_json AnyOf(std::initializer_list<ordered_json> schemas) { return {{"anyOf", schemas}}; }

ordered_json Choice(const Key& key) {
  ordered_json words = ordered_json::array();
  std::istringstream choices(ChoicesOf(key));
  for (std::string word; choices >> word;) words.push_back(word);
  words.push_back(nullptr);
  return {{"enum", words}};
}

ordered_json Integer(const Key& key) {
  ordered_json schema = {{"type", {"integer", "null"}}};
  if (key.access.low != INT64_MIN) schema["minimum"] = key.access.low;
  if (key.access.high != INT64_MAX) schema["maximum"] = key.access.high;
  return schema;
}

ordered_json TypeSchema(const Key& key) {
  const std::string path = key.path;
  switch (key.type) {
    case Type::kChoice:
      return Choice(key);
    case Type::kBoolean:
      return {{"type", {"boolean", "null"}}};
    case Type::kInteger:
      return Integer(key);
    case Type::kNodes:
    case Type::kLinks:
      return AnyOf({{{"enum", {"all", nullptr}}}, ListOf(Scalar())});
    case Type::kTexts:
      return ListOf(Scalar());
    case Type::kWords:
      return AnyOf({Scalar(), ListOf(Scalar())});
    case Type::kTable:
      return {{"type", {"object", "null"}}, {"additionalProperties", Scalar()}};
    case Type::kSection:
      return SectionSchema(path);
    case Type::kProtocol:
      return AnyOf({Scalar(), SectionSchema(path)});
    case Type::kPlane:
      return AnyOf({Choice(key), SectionSchema(path)});
    case Type::kSections:
      return ListOf(SectionSchema(path + "[]"));
    case Type::kAlias:
      return TypeSchema(FindKey(key.choices));
    case Type::kNodeSet:
      return AnyOf({{{"type", {"integer", "null"}}}, ListOf(Scalar()), SectionSchema(path)});
    default:
      return Scalar();
  }
}

// Returns the schema of the map whose keys are those directly below `path` in the table.
ordered_json SectionSchema(std::string_view path) {
  ordered_json schema = {{"type", {"object", "null"}},
                         {"properties", ordered_json::object()},
                         {"additionalProperties", false}};
  for (const Key& key : Keys()) {
    if (key.Section() != path || std::string_view(key.path) == path) continue;
    ordered_json member = TypeSchema(key);
    member["description"] = TableCell(key.help);
    if (const std::string fallback = key.Default(); !fallback.empty()) {
      member["description"] = fmt::format("{} Default: {}.", TableCell(key.help), fallback);
    }
    if (key.Name() == "NAME") {
      schema["additionalProperties"] = member;
    } else {
      schema["properties"][std::string(key.Name())] = member;
    }
  }
  return schema;
}

}  // namespace

std::string DocumentSchema() {
  ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                         {"title", "A scenario of Viaduct"}};
  schema.update(SectionSchema(""));
  return schema.dump(1) + "\n";
}

}  // namespace viaduct::scenario
