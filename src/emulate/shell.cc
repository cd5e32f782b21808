#include "emulate/shell.h"

#include "base/error.h"
#include "broker/client.h"
#include "emulate/path_record.h"
#include "emulate/program_keeper.h"
#include "io/ring_port.h"

namespace viaduct::emulate {
namespace {

using broker::Member;
using broker::MessageType;
using nlohmann::json;

}  // namespace

engine::Config ShellPath() {
  engine::Config config;
  config.ports = {kShellPorts.begin(), kShellPorts.end()};
  config.pairs = {{kShellPair, {0, {}, {}}, {1, {}, {}}, {}, {}, {}}};
  return config;
}

Shell::Shell()
    : root_(privilege::Ask(privilege::Service::kShell), "root's half of the shell has died") {
  root_.LimitWaiting(std::nullopt, broker::Client::kGrace);
  broker::Message answer = root_.Call(MessageType::kBuildShell, "{}");
  const json built = broker::DecodeJson(answer.payload);
  name_ = Member<std::string>(built, "name");
  created_ = Member<std::string>(built, "created");
  host_ = Member<ShellInside>(built, "host");
  limits_ = Member<std::string>(built, "limits");
  ipv6_limits_ = Member<std::string>(built, "ipv6_limits");
  const auto indices = Member<std::vector<int>>(built, "ports");
  if (indices.size() != ports_.size() || answer.descriptors.size() != ports_.size() + 1) {
    throw Error("the shell has not all its ports");
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

broker::ProgramOptions Shell::Program(const std::vector<std::string>& words) const {
  broker::ProgramOptions program;
  program.node = "shell";
  program.arguments = words.empty() ? LoginShell() : words;
  program.environment["VIADUCT_HOST"] = host_.machine;
  program.environment["VIADUCT_HOST6"] = host_.machine6;  // empty where an outer shell had one
  program.environment[kPathVariable] = name_;
  return program;
}

UniqueFd Shell::StartProgram(const broker::ProgramOptions& program) {
  return StartKeptProgram(root_, program);
}

void Shell::Signal(int number) { SignalKeptProgram(root_, number); }

void Shell::EndProgram() { EndKeptProgram(root_); }

uint64_t Shell::CountUnsent() {
  return Member<uint64_t>(root_.CallJson(MessageType::kCountUnsent, json::object()), "connections");
}

}  // namespace viaduct::emulate
