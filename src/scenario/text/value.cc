#include "scenario/text/value.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

constexpr size_t kMaximumText = 1 << 20;
constexpr int kMaximumDepth = 32;
// The maximum number of values in a file: aliases of YAML can expand a short text enormously
// ("billion laughs").
constexpr size_t kMaximumNodes = 200000;

// Returns the length of the UTF-8 sequence (RFC 3629) that starts at text[i]; 0 if the bytes are
// not a valid sequence, or are a control character other than white space.
size_t SequenceLength(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(i);
  if (lead < 0x80) return lead >= 0x20 || lead == '\n' || lead == '\t' || lead == '\r' ? 1 : 0;
  const size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                                                      : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  }
  const bool overlong =
      (lead == 0xE0 && byte(i + 1) < 0xA0) || (lead == 0xF0 && byte(i + 1) < 0x90);
  const bool surrogate = lead == 0xED && byte(i + 1) >= 0xA0;
  const bool beyond = lead == 0xF4 && byte(i + 1) >= 0x90;
  const bool c1_control = lead == 0xC2 && byte(i + 1) < 0xA0;
  const bool noncharacter = lead == 0xEF && ((byte(i + 1) == 0xBB && byte(i + 2) == 0xBF) ||
                                             (byte(i + 1) == 0xBF && byte(i + 2) >= 0xBE));
  return overlong || surrogate || beyond || c1_control || noncharacter ? 0 : length;
}

void CheckText(const std::string& text, const std::string& source) {
  if (text.size() > kMaximumText) {
    throw UsageError(fmt::format("{}: larger than 1 MiB; is this a scenario file?", source));
  }
  int line = 1;
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text, i);
    if (length == 0) {
      throw UsageError(fmt::format("{}:{}: not plain UTF-8 text (byte 0x{:02x})", source, line,
                                   static_cast<unsigned char>(text[i])));
    }
    if (text[i] == '\n') ++line;
    i += length;
  }
}

// Checks a parsed text for control characters: escapes of YAML ("\e") may produce characters that
// the text of the file must not contain. Accepts only white space, which is useful in the arguments
// of a program.
void CheckControlCharacters(const Value& at, const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text, i);
    if (length == 0) {
      Fail(at, fmt::format("a text contains the control character 0x{:02x}",
                           static_cast<unsigned char>(text[i])));
    }
    i += length;
  }
}

class Converter {
 public:
  explicit Converter(const std::string& source) : source_(source) {}

  Value Convert(const YAML::Node& node, int depth) {
    Value value;
    value.where = Where(node);
    if (depth > kMaximumDepth) Fail(value, "nested too deeply");
    if (++count_ > kMaximumNodes)
      Fail(value, "too many values, perhaps because YAML aliases contain each other");
    if (node.IsScalar()) {
      value.kind = Value::Kind::kScalar;
      value.text = node.Scalar();
      CheckControlCharacters(value, value.text);
    } else if (node.IsSequence()) {
      value.kind = Value::Kind::kList;
      for (const YAML::Node& item : node) value.items.push_back(Convert(item, depth + 1));
    } else if (node.IsMap()) {
      value.kind = Value::Kind::kMap;
      for (const auto& member : node) AddMember(value, member.first, member.second, depth);
    }
    return value;
  }

 private:
  std::string Where(const YAML::Node& node) const {
    const int line = node.Mark().line;
    return line >= 0 ? fmt::format("{}:{}", source_, line + 1) : source_;
  }

  void AddMember(Value& map, const YAML::Node& key, const YAML::Node& node, int depth) {
    Value at;
    at.where = Where(key);
    if (!key.IsScalar()) Fail(at, "a key must be a plain word");
    CheckControlCharacters(at, key.Scalar());
    if (map.Find(key.Scalar())) Fail(at, fmt::format("key '{}' is given twice", key.Scalar()));
    map.members.push_back({key.Scalar(), Convert(node, depth + 1)});
    // Sets the position of an empty value, which YAML does not record, to that of its key.
    if (node.IsNull()) map.members.back().second.where = at.where;
  }

  std::string source_;
  size_t count_ = 0;
};

// Records the position where a document starts, and ignores all other events.
class DocumentStart : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
  const YAML::Mark& mark() const { return mark_; }

 private:
  YAML::Mark mark_;
};

// Throws if there is more than one document. YAML::LoadAll cannot be used: it would not return for
// a text such as ",", for which the parser returns empty documents without end and never advances.
void CheckOneDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart first, second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return;
  throw YAML::ParserException(second.mark(), first.mark().pos == second.mark().pos
                                                 ? "no value can start here"
                                                 : "more than one YAML document");
}

Value ParseOneDocument(const std::string& text, const std::string& source) {
  try {
    CheckOneDocument(text);
    const YAML::Node document = YAML::Load(text);
    Value value;
    if (!document.IsNull()) value = Converter(source).Convert(document, 0);
    if (value.where.empty()) value.where = source;
    return value;
  } catch (const YAML::Exception& e) {
    const std::string line = e.mark.line >= 0 ? fmt::format(":{}", e.mark.line + 1) : "";
    throw UsageError(fmt::format("{}{}: malformed YAML: {}", source, line, e.msg));
  }
}

// Splits "a.b[0].c" into a, b, 0, c.
std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      parts.emplace_back();
    } else if (c != ']') {
      parts.back() += c;
    }
  }
  return parts;
}

Value* Step(Value& value, const std::string& part, const Value& at) {
  if (value.IsList()) {
    size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (error != std::errc() || end != part.data() + part.size() || index >= value.items.size()) {
      Fail(at, fmt::format("'{}' is not a valid index of a list of {} items", part,
                           value.items.size()));
    }
    return &value.items[index];
  }
  if (value.kind == Value::Kind::kNull) value.kind = Value::Kind::kMap;
  if (!value.IsMap()) Fail(at, fmt::format("'{}' cannot be set inside {}", part, value.Describe()));
  if (Value* found = value.Find(part)) return found;
  value.members.push_back({part, Value()});
  value.members.back().second.where = at.where;
  return &value.members.back().second;
}

}  // namespace

const Value* Value::Find(std::string_view key) const {
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const auto& member) { return member.first == key; });
  return it == members.end() ? nullptr : &it->second;
}

Value* Value::Find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).Find(key));
}

std::string Value::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "'" + text + "'";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "";
}

void Fail(const Value& at, const std::string& message) {
  throw UsageError(at.where + ": " + message);
}

Value ParseYaml(const std::string& text, const std::string& source) {
  CheckText(text, source);
  return ParseOneDocument(text, source);
}

void Override(Value& root, const std::string& assignment) {
  Value at;
  at.where = "--set " + assignment;
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    Fail(at, "write KEY=VALUE, for example --set flows.0.rate=2Mbit");
  }
  CheckText(assignment, "--set");
  Value* value = &root;
  for (const std::string& part : SplitPath(std::string_view(assignment).substr(0, equals))) {
    if (part.empty()) Fail(at, "the key contains an empty name");
    value = Step(*value, part, at);
  }
  *value = ParseOneDocument(assignment.substr(equals + 1), at.where);
  // Replaces the position of each value inside the assigned value ("--set ...:1") by the option.
  const auto place = [&](auto&& self, Value& v) -> void {
    v.where = at.where;
    for (Value& item : v.items) self(self, item);
    for (auto& [key, member] : v.members) self(self, member);
  };
  place(place, *value);
}

}  // namespace viaduct::scenario
