#include "emulate/shell.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "io/ring_port.h"
#include "sys/invoking_user.h"
#include "wire/address.h"

namespace viaduct::emulate {
namespace {

using broker::MessageType;
using nlohmann::json;

std::vector<std::string> LoginShell() {
  const auto user = sys::FindAccount(getuid());
  return {user && !user->shell.empty() ? user->shell : "/bin/sh"};
}

std::unique_ptr<io::AnyPort> PortOn(UniqueFd socket, int ifindex) {
  io::RingOptions ring;
  ring.ifindex = ifindex;
  return io::Hold(io::RingPort(std::move(socket), ring));
}

}  // namespace

engine::Config ShellPath(const path::Spec& up, const path::Spec& down) {
  engine::Config config;
  config.name = "shell";
  config.ports = {ShellNetwork::kProgramPort, ShellNetwork::kHostPort};
  config.pairs = {{"shell", {0, {}, {}}, {1, {}, {}}, up, down, {}}};
  return config;
}

Shell::Shell(engine::Config config)
    : root_(privilege::Ask(privilege::Service::kShell), "root's half of the shell has died") {
  broker::Message answer = root_.Call(MessageType::kBuildShell, "{}");
  const json built = broker::DecodeJson(answer.payload);
  host_address_ = broker::Member<std::string>(built, "host_address");
  limits_ = broker::Member<std::string>(built, "limits");
  const auto indices = broker::Member<std::vector<int>>(built, "ports");
  if (indices.size() != answer.descriptors.size()) throw Error("the shell has not all its ports");
  std::vector<std::unique_ptr<io::AnyPort>> ports;
  for (size_t i = 0; i < indices.size(); ++i) {
    ports.push_back(PortOn(std::move(answer.descriptors[i]), indices[i]));
  }
  engine_.emplace(std::move(config), std::move(ports));
}

broker::ProgramOptions Shell::Program(const std::vector<std::string>& words) const {
  broker::ProgramOptions program;
  program.node = "shell";
  program.arguments = words.empty() ? LoginShell() : words;
  program.environment["VIADUCT_HOST"] = host_address_;
  return program;
}

void Shell::Start(const broker::ProgramOptions& program) {
  engine_->Start();
  broker::Message answer = broker::CallSpawn(root_, program);
  if (answer.descriptors.size() != 1) throw Error("the shell's program has no exit status");
  exit_status_ = std::move(answer.descriptors[0]);
}

void Shell::Signal(int number) { root_.CallJson(MessageType::kKill, {{"signal", number}}); }

engine::Statistics Shell::Stop() {
  engine_->Stop();
  return engine_->Read();
}

}  // namespace viaduct::emulate
