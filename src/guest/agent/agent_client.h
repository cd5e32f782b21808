// The simulator's side of a guest's agent: sends requests, combines those of one instant into few
// messages, and dispatches the answers and events.
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

// Receives the events of one socket, at the instant at which they happen. Called from events of the
// simulation and from Await(), but from no other function of AgentClient. Handlers may create and
// close sockets, including their own.
class SocketEvents {
 public:
  // A datagram or a piece of a stream with its metadata; valid during the call.
  struct Data {
    uint64_t size = 0;
    std::span<const std::byte> bytes;  // empty: `size` zeros
    std::optional<agent::Endpoint> from;
    std::optional<agent::PacketInfo> info;
  };

  virtual ~SocketEvents() = default;
  virtual void OnBound(const agent::Endpoint& local) = 0;
  virtual void OnConnected(const agent::Endpoint& local, const agent::Endpoint& peer) = 0;
  // Passes the number of the new socket, for Attach().
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
  struct Hop {
    std::optional<wire::IpAddress> gateway;  // nullopt: the destination is on the link
    int ifindex = 0;
  };
  wire::IpPrefix destination;
  std::vector<Hop> hops;  // several: a multipath route
  uint32_t metric = 0;
  uint32_t table = 0;  // 0: main
};

class AgentClient {
 public:
  // Runs a function at the simulator's present instant, after what is already due then.
  using Scheduler = std::function<void(std::function<void()>)>;
  // The answer to a request about a node: errno (0: success), an error text, and the payload.
  struct Answer {
    int error_number = 0;
    std::string words;
    std::span<const std::byte> result;
  };
  using OnAnswer = std::function<void(const Answer&)>;

  // The channel must outlive the client, which becomes its receiver.
  AgentClient(AgentChannel& channel, Scheduler scheduler);
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  // Sets the handler that is called when a request about a node fails and no OnAnswer was given. By
  // default, Error is thrown from the event of the simulation in which the answer arrives.
  void SetFailureHandler(std::function<void(const std::string&)> handler);
  // Calls the failure handler for a request that was sent with an OnAnswer.
  void ReportFailure(uint32_t node, agent::Code code, const std::string& words);
  // The guest's "uname -r" after its agent's kHello; empty before.
  const std::string& release() const { return release_; }

  // --- Nodes. All functions return before the request is carried out; the guest keeps their order.
  // ---

  // Returns the number that identifies the node in the other requests.
  uint32_t CreateNode(const std::string& name, OnAnswer on_answer = {});
  // Gives the node the guest's device with this MAC under a new name; `done` gets its ifindex and
  // MTU on the node.
  void MoveInterface(uint32_t node, const wire::MacAddress& mac, const std::string& name,
                     std::function<void(const agent::Interface&)> done);
  void SetUp(uint32_t node, int ifindex, bool up);
  void SetMtu(uint32_t node, int ifindex, uint32_t mtu);
  void SetUpAndArp(uint32_t node, int ifindex, bool up, bool arp);
  // Adds an address. If not `is_connected`, the kernel gets no route to the address's network.
  void AddAddress(uint32_t node, int ifindex, const wire::IpPrefix& address,
                  bool is_connected = true);
  void RemoveAddress(uint32_t node, int ifindex, const wire::IpPrefix& address);
  // Replaces a route of the same destination and metric.
  void AddRoute(uint32_t node, const KernelRoute& route);
  // Removes a route with all its next hops, whatever they are.
  void RemoveRoute(uint32_t node, const KernelRoute& route, OnAnswer on_answer = {});
  void AddNeighbour(uint32_t node, int ifindex, const wire::IpAddress& address,
                    const wire::MacAddress& mac);
  // `node` may be agent::kGuestItself.
  void WriteSysctl(uint32_t node, const std::string& name, const std::string& value,
                   OnAnswer on_answer = {});
  // Adds a rule: the routes of packets from these addresses are looked up in this table.
  void AddRule(uint32_t node, const wire::IpPrefix& from, uint32_t table);
  // Adds a rule for packets of this IP version that arrive on this interface (1: packets that the
  // node sends), and for which the rules of lower priority find no route.
  void AddLastRule(uint32_t node, wire::Family family, int incoming, uint32_t table);
  // Flags: MPTCP_PM_ADDR_FLAG_SIGNAL, _SUBFLOW... of linux/mptcp.h.
  void AddMptcpEndpoint(uint32_t node, int ifindex, const wire::IpAddress& address, uint32_t flags);
  // Sets the maximum number of a connection's subflows besides its first, and of the addresses
  // announced by its peer that it uses. The kernel's defaults are 2 and 0, the maximum is 8 each.
  void SetMptcpLimits(uint32_t node, uint32_t subflows, uint32_t addresses);

  // Sends any request that has an answer and no function here (programs, statistics). Returns its
  // number.
  uint32_t Ask(agent::Code code, uint32_t subject,
               std::initializer_list<std::span<const std::byte>> parts, OnAnswer on_answer);
  // The handler of the events of a code that is not about sockets (programs, statistics).
  using OnEvent = std::function<void(const agent::Operation&)>;
  void SetEventHandler(agent::Code code, OnEvent handler);

  // --- Sockets ---

  // Returns a number for a new socket; `events` receives its events until Detach().
  uint32_t NewSocket(SocketEvents* events);
  void Attach(uint32_t socket, SocketEvents* events);
  void Detach(uint32_t socket);
  // Until ReleaseSockets(), requests about sockets are queued in their order, because the
  // interfaces, addresses and routes that they need do not exist yet.
  void HoldSockets() { holds_sockets_ = true; }
  void ReleaseSockets();
  // Makes `service` serve each socket that it can, as soon as the socket is connected; call it
  // before the first socket is opened. The service must outlive the client, which becomes its
  // receiver.
  void SetSocketService(SocketService& service);
  // Sends any request about a socket (guest/agent/agent_protocol.h). Returns its number, for
  // Await().
  uint32_t Tell(agent::Code code, uint32_t socket,
                std::initializer_list<std::span<const std::byte>> parts = {}, uint16_t flags = 0);
  // Sends a request about a socket whose payload is computed when it is sent, after
  // ReleaseSockets().
  using Payload = std::function<std::vector<std::byte>()>;
  uint32_t TellLate(agent::Code code, uint32_t socket, Payload payload);
  // Lets the guest answer this request at the present instant, and delivers the answer before other
  // pending events of the guest. Returns false if the guest has not booted, or needs virtual time
  // for the answer.
  bool Await(uint32_t request);
  // Lets the guest carry out the requests about the socket sent until now, at the present instant,
  // and delivers the failures, but no answer of which the application is notified, before other
  // pending events of the guest. Failures that take virtual time arrive later; before the boot none
  // arrives.
  void AwaitFailures(uint32_t socket);
  // The maximum number of bytes in one kSend.
  size_t MaxData() const { return writer_.MaxPayload() - sizeof(agent::Endpoint); }

 private:
  // An operation of a received message that has not been delivered yet.
  struct Waiting {
    agent::Operation operation;
    std::vector<std::byte> payload;
    bool released = false;  // the kernel no longer serves the socket; there is no operation
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
  std::map<uint32_t, std::string> node_names_ = {{agent::kGuestItself, "(of all nodes)"}};
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false: events do nothing
};

}  // namespace viaduct::guest
