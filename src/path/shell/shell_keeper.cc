#include "path/shell/shell_keeper.h"

#include <sys/socket.h>

#include <optional>

#include "base/error.h"
#include "path/shell/shell_network.h"
#include "sys/ipc/answer.h"
#include "sys/ipc/unix_socket.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/network/tcp_table.h"
#include "sys/privilege/program_keeper.h"

namespace viaduct::path {
namespace {

using ipc::Reply;

class ShellKeeper final : public privilege::ProgramKeeper {
 public:
  using ProgramKeeper::ProgramKeeper;

 private:
  Reply Perform(ipc::Message& request) override {
    switch (request.code.As<ShellRequest>()) {
      case ShellRequest::kBuild:
        return Build();
      case ShellRequest::kCountUnsent:
        return CountUnsent();
      default:
        throw ipc::UnknownRequest(kShellService, request.code);
    }
  }

  int EnterNetwork(const privilege::ProgramOptions&) override {
    if (!network_)
      throw UsageError("the shell's network must be created before its program starts");
    network_->EnterNameService();
    return network_->inside();
  }

  int Watched() const override { return network_ ? network_->monitor() : -1; }
  void Follow() override { network_->FollowInterfaces(); }

  Reply Build() {
    if (network_) throw UsageError("this process has already created its shell");
    network_.emplace(user().uid);
    Reply reply;
    const ShellInfo& info = network_->info();
    reply.value = {{"name", info.name},
                   {"created", info.created},
                   {"host", *info.inside},
                   {"limits", network_->limits()},
                   {"ipv6_limits", network_->ipv6_limits()},
                   {"ports", nlohmann::json::array()}};
    UniqueFd listener = sys::ListenAt(info.control_socket(), user().uid, user().gid, SOCK_STREAM);
    const sys::NamespaceScope scope(network_->middle());
    for (const char* name : kShellPorts) {
      sys::PacketSocket socket = sys::OpenPacketSocket(name, true);
      reply.value["ports"].push_back(socket.ifindex);
      reply.descriptors.push_back(std::move(socket.fd));
    }
    reply.descriptors.push_back(std::move(listener));
    network_->CloseMiddle();
    return reply;
  }

  Reply CountUnsent() const {
    if (!network_) throw UsageError("this process has not created a shell yet");
    const sys::NamespaceScope scope(network_->inside());
    return {{{"connections", sys::CountUnsentTcp()}}, {}};
  }

  std::optional<ShellNetwork> network_;
};

}  // namespace

void KeepShell(UniqueFd connection, const sys::Identity& user) {
  ShellKeeper(std::move(connection), kShellService, user).Work("viaduct-shell");
}

}  // namespace viaduct::path
