#include "sys/machine/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "sys/network/netns.h"
#include "sys/process/child.h"
#include "sys/process/find_program.h"

namespace viaduct::sys {
namespace {

constexpr std::array kContainerPrograms{"docker", "podman"};

bool IsPid(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the most informative line of a program's output: the last line that is not empty.
std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of(" \n\r");
  if (end == std::string::npos) return "no output";
  const size_t before = output.find_last_of('\n', end);
  return output.substr(before == std::string::npos ? 0 : before + 1,
                       end - (before == std::string::npos ? 0 : before + 1) + 1);
}

}  // namespace

std::optional<int> ParseInspectedPid(const std::string& output) {
  const std::string line = LastLine(output);  // the line of the pid follows warnings
  int pid = 0;
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
  if (error != std::errc() || rest != line.data() + line.size() || pid < 0) return std::nullopt;
  return pid;
}

std::string ResolveContainer(const std::string& into, const std::string& what) {
  if (IsPid(into)) return into;  // a pid, or the empty string
  const bool is_option = into.starts_with('-');
  const bool may_be_name = into.find('/') == std::string::npos && !into.starts_with('.');
  if (is_option || !may_be_name || NamespaceExists(into)) return into;
  std::string asked;
  for (const char* const program : kContainerPrograms) {
    if (FindProgram(program).empty()) continue;
    const ProgramResult result =
        RunProgram({program, "inspect", "--type", "container", "--format", "{{.State.Pid}}", into});
    if (result.status == 0) {
      const auto pid = ParseInspectedPid(result.output);
      if (pid && *pid > 0) return std::to_string(*pid);
      throw UsageError(
          pid ? fmt::format("{} {}: the container of {} is not running", what, into, program)
              : fmt::format("{} {}: {} does not report the pid of the container: {}", what, into,
                            program, LastLine(result.output)));
    }
    asked += fmt::format("; {}: {}", program, LastLine(result.output));
  }
  if (asked.empty())
    asked = "; neither docker nor podman, which could find a container, is installed";
  throw UsageError(
      fmt::format("{} {}: no network namespace (ip netns) has this name{}", what, into, asked));
}

}  // namespace viaduct::sys
