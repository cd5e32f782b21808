// Sockets for tests on a node of a real kernel, served by the node's agent or by the kernel itself.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "guest/agent/program_client.h"
#include "guest/test/real_guest.h"
#include "guest/time/kernel_sockets.h"

namespace viaduct::guest {

inline constexpr uint64_t kPlenty = uint64_t{1} << 40;
inline constexpr uint16_t kPort = 5001;

// A socket of a test, which records its events.
class Peer : public SocketEvents {
 public:
  void OnBound(const agent::Endpoint&) override {}
  void OnConnected(const agent::Endpoint&, const agent::Endpoint&) override { connected = true; }
  void OnAccepted(const agent::Accepted& accepted) override { on_accepted(accepted.socket); }
  void OnData(const Data& data) override {
    EXPECT_FALSE(ended);
    bytes.append(reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size());
    if (data.bytes.empty()) bytes.append(data.size, '\0');
    messages.push_back(data);
    messages.back().bytes = {};
    if (on_data) on_data(data.size);
  }
  void OnWritten(uint64_t more) override { written += more; }
  void OnEnd() override { ended = true; }
  void OnBroken(int error) override { broken = error; }
  void OnFailed(agent::Code code, int error) override { failures.emplace_back(code, error); }
  void OnOption(const agent::SocketOption&, std::span<const std::byte> value) override {
    option = std::to_integer<int>(value[0]);
  }

  uint32_t number = 0;
  bool connected = false;
  bool ended = false;
  int broken = 0;
  int option = -1;
  uint64_t written = 0;
  std::string bytes;
  std::vector<Data> messages;  // messages or pieces of a stream; `bytes` has their bytes
  std::vector<std::pair<agent::Code, int>> failures;
  std::function<void(uint32_t)> on_accepted;
  std::function<void(uint64_t)> on_data;
};

inline std::string Pattern(size_t length, int seed) {
  std::string text(length, '\0');
  uint32_t state = 12345 + static_cast<uint32_t>(seed);
  for (char& byte : text) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

// The place of the guest's kernel, and whether the kernel serves the sockets.
using Way = std::tuple<GuestPlace, bool>;

class ServedPeersTest : public testing::TestWithParam<Way>, protected RealGuest {
 protected:
  ServedPeersTest() : RealGuest(Duration::Seconds(20)) {}

  void SetUp() override {
    const auto [place, serves] = GetParam();
    try {
      MakeGuest("guest", place);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    if (serves) {
      service_ = std::make_unique<KernelSockets>(calendar_, *guest_);
      agent_->SetSocketService(*service_);
    }
    programs_ = std::make_unique<ProgramClient>(*agent_);
    node_ = agent_->CreateNode("a");
    calendar_.Boot();
    if (serves && !service_->Available()) GTEST_SKIP() << "this kernel has no patch 0011";
  }
  void TearDown() override {
    programs_.reset();
    agent_.reset();
    service_.reset();
  }

  agent::Endpoint Local(uint16_t port) const {
    return agent::ToEndpoint(wire::IpAddress::Parse(family_ == AF_INET ? "127.0.0.1" : "::1"),
                             port);
  }
  void Tell(agent::Code code, const Peer& peer,
            std::initializer_list<std::span<const std::byte>> parts, uint16_t flags = 0) {
    agent_->Tell(code, peer.number, parts, flags);
  }
  void Open(Peer& peer, uint64_t credit = kPlenty) {
    peer.number = agent_->NewSocket(&peer);
    const agent::OpenSocket request{node_, static_cast<uint16_t>(family_), type_, protocol_, 0,
                                    credit};
    Tell(agent::Code::kOpenSocket, peer, {agent::BytesOf(request)});
  }
  // Connects client_ to a listening socket, which accepts the connection as server_ with the given
  // credit.
  void Connect(uint64_t credit = kPlenty) {
    Listen(credit);
    Open(client_);
    Tell(agent::Code::kConnect, client_, {agent::BytesOf(Local(kPort))});
    Settle();
    ASSERT_TRUE(client_.connected);
    ASSERT_NE(server_.number, 0u);
  }
  void Listen(uint64_t credit = kPlenty) {
    listener_.on_accepted = [this](uint32_t accepted) {
      server_.number = accepted;
      agent_->Attach(accepted, &server_);
    };
    Open(listener_);
    Tell(agent::Code::kBind, listener_, {agent::BytesOf(Local(kPort))});
    Tell(agent::Code::kListen, listener_, {agent::BytesOf(agent::Listen{5, 0, credit})});
    Settle();
  }
  void Send(const Peer& peer, std::string_view text) {
    while (!text.empty()) {
      const auto piece = text.substr(0, 10'000);
      Tell(agent::Code::kSend, peer, {agent::BytesOf(piece)});
      text.remove_prefix(piece.size());
    }
  }
  void SendZeros(const Peer& peer, uint64_t count) {
    Tell(agent::Code::kSend, peer, {agent::BytesOf(count)}, agent::kZeros);
  }
  void EndSending(const Peer& peer) {
    Tell(agent::Code::kShutdown, peer, {agent::BytesOf(uint32_t{SHUT_WR})});
  }
  // Runs the simulation for 150 ms: shorter than any timer of TCP that would repair the delay of a
  // lost wake-up.
  void Settle() { queue_.RunUntil(queue_.Now() + Duration::Milliseconds(150)); }

  int family_ = AF_INET;
  uint16_t type_ = SOCK_STREAM;
  uint32_t protocol_ = IPPROTO_TCP;
  uint32_t node_ = 0;
  std::unique_ptr<KernelSockets> service_;
  std::unique_ptr<ProgramClient> programs_;
  Peer listener_, client_, server_;
};

inline std::string WayName(const testing::TestParamInfo<Way>& info) {
  return NameOf(std::get<0>(info.param)) + (std::get<1>(info.param) ? "Kernel" : "Agent");
}

}  // namespace viaduct::guest
