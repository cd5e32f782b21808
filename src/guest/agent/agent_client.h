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

// Who hears what happens to one socket, at the instant at which it happens. Called from events of
// the simulation and from inside Await(), from inside no other function of AgentClient. Each may
// make sockets, and end them, its own among them.
class SocketEvents {
 public:
  // A datagram or a piece of a stream, and what came with it; lent.
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

// A route of a node's kernel.
struct KernelRoute {
  wire::IpPrefix destination;
  std::optional<wire::IpAddress> gateway;  // none: the destination is on the link
  int ifindex = 0;
  uint32_t metric = 0;
  uint32_t table = 0;  // 0: main
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

  // Called when a request about a node fails that was made without an OnAnswer. By default Error is
  // thrown from the event of the simulation in which the answer arrives.
  void SetFailureHandler(std::function<void(const std::string&)> handler);
  // Calls that handler for a request that was made with an OnAnswer.
  void ReportFailure(uint32_t node, agent::Code code, const std::string& words);
  // The guest's "uname -r", once it has said hello; empty before.
  const std::string& release() const { return release_; }

  // --- Nodes. All return before the request is carried out; the guest keeps their order. ---

  // Returns the number that the other requests name the node by.
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
  // Replaces a route of the same destination and metric.
  void AddRoute(uint32_t node, const KernelRoute& route);
  void RemoveRoute(uint32_t node, const KernelRoute& route, OnAnswer on_answer = {});
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
               std::initializer_list<std::span<const std::byte>> parts, OnAnswer on_answer);
  // Called with the events of a code that is not about sockets (programs, statistics).
  using OnEvent = std::function<void(const agent::Operation&)>;
  void SetEventHandler(agent::Code code, OnEvent handler);

  // --- Sockets ---

  // Returns a number for a new socket; `events` hears of the socket until Detach().
  uint32_t NewSocket(SocketEvents* events);
  void Attach(uint32_t socket, SocketEvents* events);
  void Detach(uint32_t socket);
  // From here to ReleaseSockets() requests about sockets are kept, in their order: the interfaces,
  // addresses and routes that they need are not there yet.
  void HoldSockets() { holds_sockets_ = true; }
  void ReleaseSockets();
  // Any request about a socket (guest/agent/agent_protocol.h). Returns its number, for Await().
  uint32_t Tell(agent::Code code, uint32_t socket,
                std::initializer_list<std::span<const std::byte>> parts = {}, uint16_t flags = 0);
  // The same, with a payload that is asked for when the request is sent, after ReleaseSockets().
  using Payload = std::function<std::vector<std::byte>()>;
  uint32_t TellLate(agent::Code code, uint32_t socket, Payload payload);
  // Lets the guest answer this request at the present instant, and delivers the answer before other
  // events of the guest that wait to be delivered. False: the guest has not booted, or needs
  // virtual time for the answer.
  bool Await(uint32_t request);
  // The most bytes one kSend can carry.
  size_t MaxData() const { return writer_.MaxPayload() - sizeof(agent::Endpoint); }

 private:
  // An operation of a received message that is still to be delivered.
  struct Waiting {
    agent::Operation operation;
    std::vector<std::byte> payload;
  };

  uint32_t NextRequest();
  void Write(agent::Code code, uint32_t subject, uint32_t request,
             std::initializer_list<std::span<const std::byte>> parts, uint16_t flags);
  template <class Request>
  void AskNode(agent::Code code, uint32_t node, const Request& request, OnAnswer on_answer = {});
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false: events do nothing
};

}  // namespace viaduct::guest
