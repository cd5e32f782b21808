#include "sys/privilege/spawn.h"

#include <sys/stat.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "sys/process/launch.h"

namespace viaduct::privilege {
namespace {

using ipc::Member;
using nlohmann::json;

// Returns this process's environment variables, with the values in `changed` in place of the
// current values.
std::map<std::string, std::string> Variables(std::map<std::string, std::string> changed) {
  for (const std::string& variable : sys::OwnEnvironment()) {
    const size_t end = variable.find('=');
    if (end != std::string::npos)
      changed.emplace(variable.substr(0, end), variable.substr(end + 1));
  }
  changed.erase("VIADUCT_BROKER_FD");
  return changed;
}

mode_t FileMask() {
  const mode_t mask = umask(022);
  umask(mask);
  return mask;
}

// Widened() converts each byte of a text to one of the first 256 characters of Unicode, in UTF-8.
// Narrowed() converts the characters back to bytes.
std::string Widened(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
  }
  return text;
}

std::string Narrowed(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size()) {
      bytes += static_cast<char>(byte << 6 | (text[++i] & 0x3F));
    } else {
      throw UsageError(
          "request: the arguments, environment and directory of a program must be byte strings");
    }
    if (bytes.back() == '\0')
      throw UsageError(
          "request: the arguments, environment and directory of a program must not contain zero "
          "bytes");
  }
  return bytes;
}

}  // namespace

void to_json(json& value, const ProgramOptions& options) {
  value = json{
      {"node", options.node},          {"arguments", json::array()},
      {"environment", json::object()}, {"working_directory", Widened(options.working_directory)},
      {"terminal", options.terminal},  {"file_mask", options.file_mask},
      {"names", options.names},        {"new_privileges", options.new_privileges}};
  for (const std::string& word : options.arguments) value["arguments"].push_back(Widened(word));
  for (const auto& [name, text] : options.environment) {
    value["environment"][Widened(name)] = Widened(text);
  }
  int place = 0;
  json places = json::array();
  for (const int fd : {options.standard_input, options.standard_output, options.standard_error}) {
    places.push_back(fd < 0 ? -1 : place++);
  }
  value["standard"] = places;
}

void from_json(const json& value, ProgramOptions& options) {
  options.node = Member<std::string>(value, "node");
  options.arguments.clear();
  for (const auto& word : Member<std::vector<std::string>>(value, "arguments")) {
    options.arguments.push_back(Narrowed(word));
  }
  options.environment.clear();
  for (const auto& [name, text] :
       Member<std::map<std::string, std::string>>(value, "environment")) {
    options.environment[Narrowed(name)] = Narrowed(text);
  }
  options.working_directory = Narrowed(Member<std::string>(value, "working_directory"));
  options.terminal = Member<bool>(value, "terminal");
  options.names = !value.contains("names") || Member<bool>(value, "names");
  options.new_privileges =
      value.contains("new_privileges") && Member<bool>(value, "new_privileges");
  options.file_mask = value.contains("file_mask") ? Member<mode_t>(value, "file_mask") : 022;
  const auto places = Member<std::vector<int>>(value, "standard");
  if (options.arguments.empty() || places.size() != 3) {
    throw UsageError("request: a program needs arguments and three standard descriptors");
  }
  if (options.terminal && places[0] < 0) {
    throw UsageError("request: a program with a terminal needs the terminal as standard input");
  }
  options.standard_input = places[0];
  options.standard_output = places[1];
  options.standard_error = places[2];
}

ProgramOptions DecodeProgram(const ipc::Message& request) {
  auto options = ipc::DecodeJson(request.payload).get<ProgramOptions>();
  for (int* place : {&options.standard_input, &options.standard_output, &options.standard_error}) {
    if (*place < 0) continue;
    if (static_cast<size_t>(*place) >= request.descriptors.size()) {
      throw UsageError("request: a standard descriptor was not passed");
    }
    *place = request.descriptors[*place].get();
  }
  return options;
}

ipc::Message CallSpawn(ipc::Caller& caller, ProgramOptions program) {
  std::vector<int> descriptors;
  for (const int fd : {program.standard_input, program.standard_output, program.standard_error}) {
    if (fd >= 0) descriptors.push_back(fd);
  }
  program.environment = Variables(std::move(program.environment));
  program.file_mask = FileMask();
  if (program.working_directory.empty()) {
    program.working_directory = CurrentFolder();
  }
  return caller.Call(ProgramRequest::kSpawn, StrictJsonText(program), descriptors);
}

}  // namespace viaduct::privilege
