#include "remote/join/hub_encryption.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/wire/vxlan.h"
#include "sys/ipc/answer.h"
#include "sys/network/netns.h"
#include "sys/privilege/halves.h"
#include "sys/signals.h"

namespace viaduct::remote {
namespace {

using ipc::Member;
using nlohmann::json;

constexpr uint32_t kHubInside = 0x64400001;      // the hub's inner address: 100.64.0.1
constexpr uint32_t kClientsInside = 0x0a000000;  // a client's inner address: 10.0.0.0 plus the VNI
constexpr uint16_t kFirstFreePort = 1024;

wire::IpAddress HubInside() { return wire::IpAddress::FromIpv4(kHubInside); }

// Returns a non-blocking socket in the namespace, bound to the hub's address in the namespace.
UniqueFd OpenInnerSocket(int network) {
  const sys::NamespaceScope scope(network);
  UniqueFd inner(SystemCall(
      "socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP)));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(wire::kVxlanPort);
  own.sin_addr.s_addr = htonl(kHubInside);
  SystemCall("bind the inner socket",
             bind(inner.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own));
  return inner;
}

class EncryptionKeeper {
 public:
  EncryptionKeeper(UniqueFd connection, const sys::Identity& user)
      : connection_(std::move(connection), kHubService), user_(user) {}

  void Work() {
    prctl(PR_SET_NAME, "viaduct-hub");
    const UniqueFd signals = sys::CatchSignals({SIGTERM, SIGINT});
    while (true) {
      std::array<pollfd, 2> waits{{{connection_.fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
      if (poll(waits.data(), waits.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      const bool goes_on =
          waits[1].revents == 0 &&
          ipc::AnswerNext(connection_, [this](ipc::Message& request) { return Perform(request); });
      if (!goes_on) return;
    }
  }

 private:
  ipc::Reply Perform(ipc::Message& request) {
    const json arguments = ipc::DecodeJson(request.payload);
    switch (request.code.As<HubRequest>()) {
      case HubRequest::kBuild:
        return Build(arguments);
      case HubRequest::kSetPeer:
        Network().Set(DecodeOther(arguments));
        return {};
      case HubRequest::kRemovePeer:
        Network().Remove(claim::TunnelKey::Parse(Member<std::string>(arguments, "key")));
        return {};
      default:
        throw ipc::UnknownRequest(kHubService, request.code);
    }
  }

  InnerNetwork& Network() {
    if (!network_) throw UsageError("the encryption of this hub has not been set up yet");
    return *network_;
  }

  ipc::Reply Build(const json& request) {
    if (network_) throw UsageError("the encryption of this hub has already been set up");
    const auto port = Member<uint16_t>(request, "port");
    if (port != 0 && port < kFirstFreePort && user_.uid != 0) {
      throw UsageError(fmt::format("WireGuard's UDP port {}: only root may use this port", port));
    }
    const auto secret = claim::TunnelKey::Parse(Member<std::string>(request, "secret"));
    network_.emplace(secret, HubInside(), port);
    ipc::Reply reply;
    reply.value = {{"port", network_->Port()}};
    reply.descriptors.push_back(OpenInnerSocket(network_->fd()));
    return reply;
  }

  ipc::Connection connection_;
  const sys::Identity user_;
  std::optional<InnerNetwork> network_;
};

}  // namespace

json EncodeOther(const InnerNetwork::Other& other) {
  return {{"key", other.key.ToString()},
          {"inner", other.inner.ToString()},
          {"outer", other.outer.ToString()},
          {"port", other.port}};
}

InnerNetwork::Other DecodeOther(const json& json) {
  InnerNetwork::Other other;
  other.key = claim::TunnelKey::Parse(Member<std::string>(json, "key"));
  other.inner = wire::IpAddress::Parse(Member<std::string>(json, "inner"));
  other.outer = wire::IpAddress::Parse(Member<std::string>(json, "outer"));
  other.port = Member<uint16_t>(json, "port");
  if (other.inner.family != wire::Family::kIpv4 || other.inner.IsMulticast() ||
      other.inner.IsUnspecified()) {
    throw UsageError(other.inner.ToString() +
                     " is not a valid inner address; expected a unicast IPv4 address");
  }
  return other;
}

HubEncryption::HubEncryption(uint16_t port)
    : root_(privilege::CallerOf(
          kHubService, "the privileged process of the hub's encryption exited unexpectedly")) {
  root_.LimitWaiting(std::nullopt, ipc::Caller::kGrace);
  const claim::KeyPair keys = claim::KeyPair::Fresh();
  open_ = keys.open;
  const json request = {{"secret", keys.secret.ToString()}, {"port", port}};
  ipc::Message answer = root_.Call(HubRequest::kBuild, request.dump());
  port_ = ipc::AnswerMember<uint16_t>(kHubService, ipc::DecodeAnswer(kHubService, answer), "port");
  if (answer.descriptors.size() != 1) throw Error("the socket of the hub's encryption is missing");
  inner_socket_ = std::move(answer.descriptors[0]);
}

claim::EncryptedTunnel HubEncryption::Admit(uint32_t vni, const claim::TunnelKey& key,
                                            const wire::IpAddress& client) {
  const wire::IpAddress inner = wire::IpAddress::FromIpv4(kClientsInside + vni);
  root_.CallJson(HubRequest::kSetPeer, EncodeOther({key, inner, client, 0}));
  return {open_, port_, HubInside(), inner};
}

void HubEncryption::Dismiss(const claim::TunnelKey& key) {
  root_.CallJson(HubRequest::kRemovePeer, {{"key", key.ToString()}});
}

void KeepHubEncryption(UniqueFd connection, const sys::Identity& user) {
  EncryptionKeeper(std::move(connection), user).Work();
}

}  // namespace viaduct::remote
