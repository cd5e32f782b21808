#include "remote/join/join_keeper.h"

#include <optional>

#include "base/error.h"
#include "remote/join/join_network.h"
#include "sys/ipc/answer.h"
#include "sys/privilege/program_keeper.h"

namespace viaduct::remote {
namespace {

class JoinKeeper final : public privilege::ProgramKeeper {
 public:
  using ProgramKeeper::ProgramKeeper;

 private:
  ipc::Reply Perform(ipc::Message& request) override {
    if (request.code == JoinKeeperRequest::kChangeHub) {
      if (!network_) throw UsageError("cannot change the hub: this process has not joined a node");
      network_->ChangeHub(DecodeTunnel(ipc::DecodeJson(request.payload)));
      return {};
    }
    if (request.code != JoinKeeperRequest::kBuild) {
      throw ipc::UnknownRequest(kJoinService, request.code);
    }
    if (network_) throw UsageError("this process has already joined a node");
    network_.emplace(DecodeJoin(ipc::DecodeJson(request.payload)), user());
    const JoinInfo& info = network_->info();
    return {{{"name", info.name}, {"interface", info.inside->interface}}, {}};
  }

  int EnterNetwork(const privilege::ProgramOptions& program) override {
    if (!network_) throw UsageError("cannot start a program: this process has not joined a node");
    if (program.HasNodesNames()) network_->EnterNames();
    return network_->inside();
  }

  std::optional<JoinNetwork> network_;
};

}  // namespace

void KeepJoin(UniqueFd connection, const sys::Identity& user) {
  JoinKeeper(std::move(connection), kJoinService, user).Work("viaduct-join");
}

}  // namespace viaduct::remote
