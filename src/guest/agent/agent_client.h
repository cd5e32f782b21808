// The simulator's side of a guest's agent: asks, collects what is asked at one instant into few
// messages, and hands the answers and events to whom they concern.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guest/agent/agent_channel.h"
#include "guest/agent/agent_protocol.h"
#include "wire/address.h"

namespace viaduct::guest {

// What happens to one socket. Called at the instant it happens, never from inside a call of
// AgentClient but Await(). Each may make and unmake sockets, its own too.
class SocketEvents {
 public:
  // What a datagram, or a piece of a stream, is and came with; lent.
  struct Data {
    uint64_t size = 0;
    std::span<const std::byte> bytes;  // empty: `size` zeros
    std::optional<agent::Endpoint> from;
    std::optional<agent::PacketInfo> info;
  };

  virtual ~SocketEvents() = default;
  virtual void OnBound(const agent::Endpoint& local) = 0;
  virtual void OnConnected(const agent::Endpoint& local, const agent::Endpoint& peer) = 0;
  // The new socket's number, for Attach().
  virtual void OnAccepted(const agent::Accepted& accepted) = 0;
  virtual void OnData(const Data& data) = 0;
  virtual void OnWritten(uint64_t bytes) = 0;
  virtual void OnEnd() = 0;
  virtual void OnBroken(int error_number) = 0;
  virtual void OnFailed(agent::Code code, int error_number) = 0;
  virtual void OnOption(const agent::SocketOption& option, std::span<const std::byte> value) = 0;
};

class AgentClient {
 public:
  // Runs a function at the simulator's present instant, after what is already due then.
  using Scheduler = std::function<void(std::function<void()>)>;
  // How a request about a node went: errno (0: done), the kernel's words, what it carries.
  struct Answer {
    int error_number = 0;
    std::string words;
    std::span<const std::byte> result;
  };
  using OnAnswer = std::function<void(const Answer&)>;

  // The channel outlives the client. The channel's receiver becomes the client's.
  AgentClient(AgentChannel& channel, Scheduler scheduler);
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  // What is done about a request about a node that failed and whose asker gave no OnAnswer; throws
  // Error from the event by default.
  void SetFailureHandler(std::function<void(const std::string&)> handler);
  // The same for a request whose asker looked at the answer itself.
  void ReportFailure(uint32_t node, agent::Code code, const std::string& words);
  // The guest's "uname -r", once it has said hello; empty before.
  const std::string& release() const { return release_; }

  // --- Nodes. All return before it is done; requests are carried out in their order. ---

  // The number that the other requests name it by.
  uint32_t CreateNode(const std::string& name, OnAnswer on_answer = {});
  // Gives the node the guest's device with this MAC under a new name; `done` gets its ifindex and
  // MTU there.
  void MoveInterface(uint32_t node, const wire::MacAddress& mac, const std::string& name,
                     std::function<void(const agent::Interface&)> done);
  void SetUp(uint32_t node, int ifindex, bool up);
  void SetMtu(uint32_t node, int ifindex, uint32_t mtu);
  void SetArp(uint32_t node, int ifindex, bool on);
  void AddAddress(uint32_t node, int ifindex, const wire::IpPrefix& address);
  void RemoveAddress(uint32_t node, int ifindex, const wire::IpPrefix& address);
  // No gateway: on link. Replaces a route of the same destination and metric. Table 0: main.
  void AddRoute(uint32_t node, const wire::IpPrefix& destination,
                const std::optional<wire::IpAddress>& gateway, int ifindex, uint32_t metric = 0,
                uint32_t table = 0, OnAnswer on_answer = {});
  void RemoveRoute(uint32_t node, const wire::IpPrefix& destination,
                   const std::optional<wire::IpAddress>& gateway, int ifindex, uint32_t metric = 0,
                   uint32_t table = 0, OnAnswer on_answer = {});
  void AddNeighbour(uint32_t node, int ifindex, const wire::IpAddress& address,
                    const wire::MacAddress& mac);
  void WriteSysctl(uint32_t node, const std::string& name, const std::string& value,
                   OnAnswer on_answer = {});
  // Packets from these addresses look for their route in this table.
  void AddRule(uint32_t node, const wire::IpPrefix& from, uint32_t table);
  // Flags: MPTCP_PM_ADDR_FLAG_SIGNAL, _SUBFLOW... of linux/mptcp.h.
  void AddMptcpEndpoint(uint32_t node, int ifindex, const wire::IpAddress& address, uint32_t flags);
  // How many subflows a connection may have beside its first, and how many of the addresses that
  // its peer announces it uses. The kernel's own limits are 2 and 0, its most is 8 each.
  void SetMptcpLimits(uint32_t node, uint32_t subflows, uint32_t addresses);

  // Any other request with an answer (programs, statistics). Returns its number.
  uint32_t Ask(agent::Code code, uint32_t subject,
               std::initializer_list<std::span<const std::byte>> parts, uint16_t flags,
               OnAnswer on_answer);
  // Who gets the events of codes that are not about sockets (programs, statistics).
  using OnEvent = std::function<void(const agent::Operation&)>;
  void SetEventHandler(agent::Code code, OnEvent handler);

  // --- Sockets ---

  // A number for a new socket, and who hears of it until Detach().
  uint32_t NewSocket(SocketEvents* events);
  void Attach(uint32_t socket, SocketEvents* events);
  void Detach(uint32_t socket);
  // Until ReleaseSockets() what is told about sockets waits here, in its order: the interfaces,
  // addresses and routes that it needs are still to come.
  void HoldSockets() { holds_sockets_ = true; }
  void ReleaseSockets();
  // Any request about a socket (guest/agent/agent_protocol.h). Returns its number, for Await().
  uint32_t Tell(agent::Code code, uint32_t socket,
                std::initializer_list<std::span<const std::byte>> parts = {}, uint16_t flags = 0);
  // The same, with a payload that is asked for when the request leaves, not while sockets are held.
  using Payload = std::function<std::vector<std::byte>()>;
  uint32_t TellLate(agent::Code code, uint32_t socket, Payload payload);
  // Lets the guest answer this request now and hands out the answer before those of its other
  // events that are still waiting. False: the guest has not booted, or needs time.
  bool Await(uint32_t request);
  // The most bytes one kSend can carry.
  size_t MaxData() const { return writer_.MaxPayload() - sizeof(agent::Endpoint); }

 private:
  // An operation of a received message whose turn has not come.
  struct Waiting {
    agent::Operation operation;
    std::vector<std::byte> payload;
  };

  uint32_t NextRequest();
  void Write(agent::Code code, uint32_t subject, uint32_t request,
             std::initializer_list<std::span<const std::byte>> parts, uint16_t flags);
  uint32_t AboutNode(agent::Code code, uint32_t node,
                     std::initializer_list<std::span<const std::byte>> parts, OnAnswer on_answer);
  void ChangeRoute(agent::Code code, uint32_t node, const wire::IpPrefix& destination,
                   const std::optional<wire::IpAddress>& gateway, int ifindex, uint32_t metric,
                   uint32_t table, OnAnswer on_answer);
  void Receive(std::span<const std::byte> message);
  void ScheduleOnce(bool* scheduled, void (AgentClient::*work)());
  void Flush();
  void DeliverAll();
  void Deliver(const Waiting& waiting);
  bool DeliverAnswer(const agent::Operation& operation);
  void DeliverToSocket(SocketEvents& socket, const agent::Operation& operation);

  AgentChannel& channel_;
  Scheduler scheduler_;
  agent::MessageWriter writer_;
  agent::MessageReader reader_;
  std::function<void(const std::string&)> on_failure_;
  std::string release_;
  uint32_t next_request_ = 1;
  uint32_t next_node_ = 1;
  uint32_t next_socket_ = 1;
  struct Asked {
    OnAnswer on_answer;
    agent::Code code;
    uint32_t subject;
  };
  std::map<uint32_t, Asked> asked_;
  std::map<uint32_t, std::string> node_names_;
  std::map<uint32_t, SocketEvents*> sockets_;
  std::map<agent::Code, OnEvent> handlers_;
  std::deque<Waiting> waiting_;
  struct Held {
    agent::Code code;
    uint32_t socket;
    uint32_t request;
    uint16_t flags;
    Payload payload;
  };
  bool holds_sockets_ = false;
  std::vector<Held> held_;
  bool flush_scheduled_ = false;
  bool delivery_scheduled_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is scheduled
};

}  // namespace viaduct::guest
