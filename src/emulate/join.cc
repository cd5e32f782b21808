#include "emulate/join.h"

#include "broker/client.h"
#include "emulate/program_keeper.h"

namespace viaduct::emulate {

Join::Join(const JoinRequest& request)
    : root_(privilege::Ask(privilege::Service::kJoin), "root's half of the node has died"),
      node_(request.offer.node),
      hub_(request.hub.ToString()) {
  root_.LimitWaiting(std::nullopt, broker::Client::kGrace);
  const nlohmann::json built = root_.CallJson(broker::MessageType::kBuildJoin, EncodeJoin(request));
  name_ = broker::Member<std::string>(built, "name");
  interface_ = broker::Member<std::string>(built, "interface");
}

void Join::ChangeHub(const claim::EncryptedTunnel& tunnel) {
  root_.CallJson(broker::MessageType::kChangeHub, claim::WriteTunnel(tunnel));
}

broker::ProgramOptions Join::Program(const std::vector<std::string>& words) const {
  broker::ProgramOptions program;
  program.node = node_;
  program.arguments = words.empty() ? LoginShell() : words;
  program.environment["VIADUCT_NODE"] = node_;
  program.environment["VIADUCT_HUB"] = hub_;
  return program;
}

UniqueFd Join::StartProgram(const broker::ProgramOptions& program) {
  return StartKeptProgram(root_, program);
}

void Join::Signal(int number) { SignalKeptProgram(root_, number); }

}  // namespace viaduct::emulate
