#include "remote/join/join.h"

#include "remote/join/join_keeper.h"
#include "sys/privilege/halves.h"
#include "sys/privilege/program_keeper.h"

namespace viaduct::remote {

Join::Join(const JoinRequest& request)
    : root_(privilege::CallerOf(kJoinService,
                                "the privileged process of the node exited unexpectedly")),
      node_(request.offer.node),
      hub_(request.hub.ToString()) {
  root_.LimitWaiting(std::nullopt, ipc::Caller::kGrace);
  const nlohmann::json built = root_.CallJson(JoinKeeperRequest::kBuild, EncodeJoin(request));
  name_ = ipc::AnswerMember<std::string>(kJoinService, built, "name");
  interface_ = ipc::AnswerMember<std::string>(kJoinService, built, "interface");
}

void Join::ChangeHub(const claim::EncryptedTunnel& tunnel) {
  root_.CallJson(JoinKeeperRequest::kChangeHub, claim::WriteTunnel(tunnel));
}

privilege::ProgramOptions Join::Program(const std::vector<std::string>& words) const {
  privilege::ProgramOptions program;
  program.node = node_;
  program.arguments = words.empty() ? privilege::LoginShell() : words;
  program.environment["VIADUCT_NODE"] = node_;
  program.environment["VIADUCT_HUB"] = hub_;
  return program;
}

UniqueFd Join::StartProgram(const privilege::ProgramOptions& program) {
  return privilege::StartKeptProgram(root_, program);
}

void Join::Signal(int number) { privilege::SignalKeptProgram(root_, number); }

}  // namespace viaduct::remote
