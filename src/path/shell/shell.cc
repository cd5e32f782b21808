#include "path/shell/shell.h"

#include "base/error.h"
#include "path/live/path_record.h"
#include "path/shell/shell_keeper.h"
#include "port/packet/ring_port.h"
#include "sys/privilege/halves.h"
#include "sys/privilege/program_keeper.h"

namespace viaduct::path {
namespace {

using ipc::AnswerMember;
using nlohmann::json;

}  // namespace

engine::Config ShellPath() {
  engine::Config config;
  config.ports = {kShellPorts.begin(), kShellPorts.end()};
  config.pairs = {{kShellPair, {0, {}, {}}, {1, {}, {}}, {}, {}, {}}};
  return config;
}

Shell::Shell()
    : root_(privilege::CallerOf(kShellService,
                                "the shell's process that runs as root has exited unexpectedly")) {
  root_.LimitWaiting(std::nullopt, ipc::Caller::kGrace);
  ipc::Message answer = root_.Call(ShellRequest::kBuild, "{}");
  const json built = ipc::DecodeJson(answer.payload);
  name_ = AnswerMember<std::string>(kShellService, built, "name");
  created_ = AnswerMember<std::string>(kShellService, built, "created");
  host_ = AnswerMember<ShellInside>(kShellService, built, "host");
  limits_ = AnswerMember<std::string>(kShellService, built, "limits");
  ipv6_limits_ = AnswerMember<std::string>(kShellService, built, "ipv6_limits");
  const auto indices = AnswerMember<std::vector<int>>(kShellService, built, "ports");
  if (indices.size() != ports_.size() || answer.descriptors.size() != ports_.size() + 1) {
    throw Error(
        "ports of the shell are missing from the response of the process that runs as root");
  }
  for (size_t i = 0; i < ports_.size(); ++i) {
    ports_[i] = {std::move(answer.descriptors[i]), indices[i]};
  }
  listener_ = std::move(answer.descriptors.back());
}

std::unique_ptr<io::AnyPort> Shell::OpenPort(size_t port) {
  io::RingOptions options;
  options.ifindex = ifindex(port);
  return io::Hold(io::RingPort(std::move(ports_.at(port).socket), options));
}

privilege::ProgramOptions Shell::Program(const std::vector<std::string>& words) const {
  privilege::ProgramOptions program;
  program.node = "shell";
  program.arguments = words.empty() ? privilege::LoginShell() : words;
  program.environment["VIADUCT_HOST"] = host_.machine;
  // Even an empty VIADUCT_HOST6 is set, because it hides the value of an outer shell.
  program.environment["VIADUCT_HOST6"] = host_.machine6;
  program.environment[kPathVariable] = name_;
  return program;
}

UniqueFd Shell::StartProgram(const privilege::ProgramOptions& program) {
  return privilege::StartKeptProgram(root_, program);
}

void Shell::Signal(int number) { privilege::SignalKeptProgram(root_, number); }

void Shell::EndProgram() { privilege::EndKeptProgram(root_); }

uint64_t Shell::CountUnsent() {
  return AnswerMember<uint64_t>(kShellService, root_.CallJson(ShellRequest::kCountUnsent),
                                "connections");
}

}  // namespace viaduct::path
