// The simulator's side of a guest's agent: sends requests, combines the requests of one instant
// into few messages, and dispatches the answers and events.
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
#include <vector>

#include "base/wire/address.h"
#include "guest/agent/agent_channel.h"
#include "guest/agent/agent_protocol.h"
#include "guest/agent/served_sockets.h"

namespace viaduct::guest {

// The callbacks for the events of one socket, called at the virtual instant at which each event
// happens. They are called from events of the simulation and from AgentClient::Await(), but from no
// other function of AgentClient. A callback may create and close sockets, including the socket that
// it is called for.
class SocketEvents {
 public:
  // A datagram or a piece of a stream, with its metadata; the bytes are valid during the callback.
  struct Data {
    uint64_t size = 0;
    std::span<const std::byte> bytes;  // if empty, the data is `size` zero bytes
    std::optional<agent::Endpoint> from;
    std::optional<agent::PacketInfo> info;
  };

  virtual ~SocketEvents() = default;
  virtual void OnBound(const agent::Endpoint& local) = 0;
  virtual void OnConnected(const agent::Endpoint& local, const agent::Endpoint& peer) = 0;
  // Reports an accepted connection; `accepted` has the number of the new socket, for Attach().
  virtual void OnAccepted(const agent::Accepted& accepted) = 0;
  virtual void OnData(const Data& data) = 0;
  virtual void OnWritten(uint64_t bytes) = 0;
  virtual void OnEnd() = 0;
  virtual void OnBroken(int error_number) = 0;
  virtual void OnFailed(agent::Code code, int error_number) = 0;
  virtual void OnOption(const agent::SocketOption& option, std::span<const std::byte> value) = 0;
};

// A route in the routing tables of a node's kernel.
struct KernelRoute {
  struct Hop {
    std::optional<wire::IpAddress> gateway;  // nullopt: the destination is on the link
    int ifindex = 0;
  };
  wire::IpPrefix destination;
  std::vector<Hop> hops;  // more than one: a multipath route
  uint32_t metric = 0;
  uint32_t table = 0;  // the routing table's number; 0: main
};

class AgentClient {
 public:
  // A function that runs its argument at the simulator's present instant, after the events that are
  // already due at that instant.
  using Scheduler = std::function<void(std::function<void()>)>;
  // The answer to a request about a node: an errno (0: success), an error text, and the payload.
  struct Answer {
    int error_number = 0;
    std::string words;
    std::span<const std::byte> result;
  };
  using OnAnswer = std::function<void(const Answer&)>;

  // Sets the AgentClient as the receiver of the channel's messages. The channel must outlive the
  // AgentClient.
  AgentClient(AgentChannel& channel, Scheduler scheduler);
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  // Sets the handler that is called when a request about a node fails and the caller passed no
  // OnAnswer with the request. By default, Error is thrown from the event of the simulation in
  // which the answer arrives.
  void SetFailureHandler(std::function<void(const std::string&)> handler);
  // Calls the failure handler for a failed request that was sent with an OnAnswer.
  void ReportFailure(uint32_t node, agent::Code code, const std::string& words);
  // Returns the kernel release ("uname -r") that the guest's agent reported in kHello; empty before
  // kHello.
  const std::string& release() const { return release_; }

  // --- Nodes. All functions of this group return before the agent carries out the request; the
  // agent carries out requests in the order in which they were sent. ---

  // Creates a node and returns the number that identifies the node in other requests.
  uint32_t CreateNode(const std::string& name, OnAnswer on_answer = {});
  // Moves the guest's device with the MAC address `mac` to the node and renames it to `name`;
  // `done` receives the device's ifindex and MTU on the node.
  void MoveInterface(uint32_t node, const wire::MacAddress& mac, const std::string& name,
                     std::function<void(const agent::Interface&)> done);
  void SetUp(uint32_t node, int ifindex, bool up);
  void SetMtu(uint32_t node, int ifindex, uint32_t mtu);
  void SetUpAndArp(uint32_t node, int ifindex, bool up, bool arp);
  // Adds an address to an interface of the node. If `is_connected` is false, the kernel gets no
  // route to the address's network.
  void AddAddress(uint32_t node, int ifindex, const wire::IpPrefix& address,
                  bool is_connected = true);
  void RemoveAddress(uint32_t node, int ifindex, const wire::IpPrefix& address);
  // Adds a route, which replaces an existing route with the same destination and metric.
  void AddRoute(uint32_t node, const KernelRoute& route);
  // Removes a route with all its next hops. If `route` has several next hops, they need not be the
  // next hops that the kernel's route still has.
  void RemoveRoute(uint32_t node, const KernelRoute& route, OnAnswer on_answer = {});
  void AddNeighbour(uint32_t node, int ifindex, const wire::IpAddress& address,
                    const wire::MacAddress& mac);
  // Writes a kernel parameter (sysctl) of the node; `node` may be agent::kGuestItself.
  void WriteSysctl(uint32_t node, const std::string& name, const std::string& value,
                   OnAnswer on_answer = {});
  // Adds a routing rule: the routes of packets with a source address in the prefix `from` are
  // looked up in `table`.
  void AddRule(uint32_t node, const wire::IpPrefix& from, uint32_t table);
  // Adds a routing rule for packets of the IP version `family` that arrive on the interface
  // `incoming` (1: packets that the node sends) and for which the rules with lower priority numbers
  // find no route.
  void AddLastRule(uint32_t node, wire::Family family, int incoming, uint32_t table);
  // Adds an address that MPTCP uses for further subflows. `flags`: MPTCP_PM_ADDR_FLAG_SIGNAL,
  // MPTCP_PM_ADDR_FLAG_SUBFLOW and the other flags of linux/mptcp.h.
  void AddMptcpEndpoint(uint32_t node, int ifindex, const wire::IpAddress& address, uint32_t flags);
  // Sets two limits of each MPTCP connection of the node: the maximum number of subflows besides
  // the first one, and the maximum number of addresses announced by the peer that the connection
  // uses. The kernel's defaults are 2 subflows and 0 addresses; each maximum is at most 8.
  void SetMptcpLimits(uint32_t node, uint32_t subflows, uint32_t addresses);

  // Sends a request about programs or statistics, for which AgentClient has no other functions. The
  // request must have an answer, which `on_answer` receives. Returns the request's number.
  uint32_t Ask(agent::Code code, uint32_t subject,
               std::initializer_list<std::span<const std::byte>> parts, OnAnswer on_answer);
  // A handler of events about programs or statistics, not about sockets.
  using OnEvent = std::function<void(const agent::Operation&)>;
  void SetEventHandler(agent::Code code, OnEvent handler);

  // --- Sockets ---

  // Returns the number of a new socket; `events` receives the socket's events until Detach().
  uint32_t NewSocket(SocketEvents* events);
  void Attach(uint32_t socket, SocketEvents* events);
  void Detach(uint32_t socket);
  // Queues the requests about sockets, in their order, until ReleaseSockets() is called, because
  // the interfaces, addresses and routes that the requests need do not exist yet.
  void HoldSockets() { holds_sockets_ = true; }
  void ReleaseSockets();
  // Makes `service` serve each socket that it can serve, as soon as the socket is connected. Must
  // be called before the first socket is opened. The service must outlive the AgentClient, which
  // becomes the receiver of the service's events.
  void SetSocketService(SocketService& service);
  // Sends a request about a socket (guest/agent/agent_protocol.h). Returns the request's number,
  // for Await().
  uint32_t Tell(agent::Code code, uint32_t socket,
                std::initializer_list<std::span<const std::byte>> parts = {}, uint16_t flags = 0);
  // Sends a request about a socket. The payload is computed when the request is sent, which is
  // after ReleaseSockets().
  using Payload = std::function<std::vector<std::byte>()>;
  uint32_t TellLate(agent::Code code, uint32_t socket, Payload payload);
  // Lets the guest answer the request with the number `request` at the present instant, and
  // delivers the answer before other pending events of the guest. Returns false if the guest has
  // not booted, or needs virtual time for the answer.
  bool Await(uint32_t request);
  // Lets the guest carry out all requests about the socket that were sent before this call, at the
  // present instant. Delivers the failures of these requests before other pending events of the
  // guest, but does not deliver answers that notify the application. Failures that take virtual
  // time arrive later; before the guest has booted, no failure arrives.
  void AwaitFailures(uint32_t socket);
  // Returns the maximum number of bytes in one kSend request.
  size_t MaxData() const { return writer_.MaxPayload() - sizeof(agent::Endpoint); }

 private:
  // An operation from a received message that has not been delivered yet.
  struct Waiting {
    agent::Operation operation;
    std::vector<std::byte> payload;
    // True if the kernel no longer serves the socket; the members above then hold no operation.
    bool released = false;
  };

  uint32_t NextRequest();
  void Write(agent::Code code, uint32_t subject, uint32_t request,
             std::initializer_list<std::span<const std::byte>> parts, uint16_t flags);
  template <class Request>
  void AskNode(agent::Code code, uint32_t node, const Request& request, OnAnswer on_answer = {});
  void WriteToSocket(agent::Code code, uint32_t socket, uint32_t request,
                     std::initializer_list<std::span<const std::byte>> parts, uint16_t flags);
  void Receive(std::span<const std::byte> message);
  void ReceiveServed(SocketEvent event);
  void AskRoute(agent::Code code, uint32_t node, const KernelRoute& route, OnAnswer on_answer);
  void ScheduleOnce(bool* scheduled, void (AgentClient::*work)());
  void Flush();
  void DeliverAll();
  bool DeliverAnswerTo(uint32_t socket);
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
  std::map<uint32_t, std::string> node_names_ = {{agent::kGuestItself, "(all nodes)"}};
  std::map<uint32_t, SocketEvents*> sockets_;
  std::map<agent::Code, OnEvent> handlers_;
  SocketService* service_ = nullptr;
  std::optional<ServedSockets> served_;
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
  // Set to false by the destructor; scheduled events of the AgentClient then do nothing.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace viaduct::guest
