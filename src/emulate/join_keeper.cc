#include "emulate/join_keeper.h"

#include <optional>

#include "base/error.h"
#include "broker/call.h"
#include "emulate/join_network.h"
#include "emulate/program_keeper.h"

namespace viaduct::emulate {
namespace {

class JoinKeeper final : public ProgramKeeper {
 public:
  using ProgramKeeper::ProgramKeeper;

 private:
  broker::Reply Perform(broker::Message& request) override {
    if (request.type == broker::MessageType::kChangeHub) {
      if (!network_) throw UsageError("a node is joined first, and then has another hub");
      network_->ChangeHub(DecodeTunnel(broker::DecodeJson(request.payload)));
      return {};
    }
    if (request.type != broker::MessageType::kBuildJoin) {
      throw broker::ProtocolError("broker protocol: not what a joined node's keeper does");
    }
    if (network_) throw UsageError("this process has joined a node already");
    network_.emplace(DecodeJoin(broker::DecodeJson(request.payload)), user());
    const JoinInfo& info = network_->info();
    return {{{"name", info.name}, {"interface", info.inside->interface}}, {}};
  }

  int EnterNetwork(const broker::ProgramOptions& program) override {
    if (!network_) throw UsageError("a node is joined first, and then has a program");
    if (program.HasNodesNames()) network_->EnterNames();
    return network_->inside();
  }

  std::optional<JoinNetwork> network_;
};

}  // namespace

void KeepJoin(UniqueFd connection, const sys::Identity& user) {
  JoinKeeper(std::move(connection), user).Work("viaduct-join");
}

}  // namespace viaduct::emulate
