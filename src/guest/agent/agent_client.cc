#include "guest/agent/agent_client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace viaduct::guest {

using agent::BytesOf;
using agent::Code;
using agent::Endpoint;
using agent::Operation;

namespace {

agent::InterfaceAddress ToRequest(int ifindex, const wire::IpPrefix& address) {
  return {ifindex, static_cast<uint32_t>(address.length), agent::ToEndpoint(address.address)};
}

agent::Route ToRequest(const KernelRoute& route) {
  return {static_cast<uint32_t>(route.destination.length), route.metric, route.table,
          static_cast<uint32_t>(route.hops.size()), agent::ToEndpoint(route.destination.address)};
}

std::vector<agent::RouteHop> HopsOf(const KernelRoute& route) {
  std::vector<agent::RouteHop> hops;
  for (const KernelRoute::Hop& hop : route.hops) {
    hops.push_back({hop.ifindex, 0, hop.gateway ? agent::ToEndpoint(*hop.gateway) : Endpoint{}});
  }
  return hops;
}

bool IsSocketRequest(Code code) {
  return code >= Code::kOpenSocket && static_cast<uint16_t>(code) < agent::kFirstProgramCode;
}

bool IsSocketEvent(Code code) { return code >= Code::kBound; }

// Decodes the payload of the event kData.
SocketEvents::Data ParseData(const Operation& operation) {
  SocketEvents::Data data;
  size_t offset = 0;
  if ((operation.flags & agent::kToEndpoint) != 0) {
    data.from = operation.As<Endpoint>(offset);
    offset += sizeof(Endpoint);
  }
  if ((operation.flags & agent::kWithInfo) != 0) {
    data.info = operation.As<agent::PacketInfo>(offset);
    offset += sizeof(agent::PacketInfo);
  }
  if ((operation.flags & agent::kZeros) != 0) {
    data.size = operation.As<uint64_t>(offset);
    if (data.size > agent::kMaxMessage) throw agent::ProtocolError("datagram too long");
  } else {
    data.bytes = operation.After(offset);
    data.size = data.bytes.size();
  }
  return data;
}

}  // namespace

AgentClient::AgentClient(AgentChannel& channel, Scheduler scheduler)
    : channel_(channel),
      scheduler_(std::move(scheduler)),
      writer_(channel.MaxMessage(),
              [this](std::span<const std::byte> message) { channel_.Send(message); }),
      on_failure_([](const std::string& message) { throw Error(message); }) {
  channel_.SetReceiver([this](std::span<const std::byte> message) { Receive(message); });
}

AgentClient::~AgentClient() {
  *alive_ = false;
  channel_.SetReceiver({});
  if (service_ != nullptr) service_->SetReceiver({});
}

void AgentClient::SetFailureHandler(std::function<void(const std::string&)> handler) {
  on_failure_ = std::move(handler);
}

void AgentClient::SetEventHandler(Code code, OnEvent handler) {
  handlers_[code] = std::move(handler);
}

void AgentClient::ScheduleOnce(bool* scheduled, void (AgentClient::*work)()) {
  if (std::exchange(*scheduled, true)) return;
  scheduler_([this, alive = alive_, scheduled, work] {
    if (!*alive) return;
    *scheduled = false;
    (this->*work)();
  });
}

uint32_t AgentClient::NextRequest() {
  if (next_request_ == 0) next_request_ = 1;
  return next_request_++;
}

void AgentClient::Write(Code code, uint32_t subject, uint32_t request,
                        std::initializer_list<std::span<const std::byte>> parts, uint16_t flags) {
  writer_.Add(code, subject, request, parts, flags);
  ScheduleOnce(&flush_scheduled_, &AgentClient::Flush);
}

void AgentClient::SetSocketService(SocketService& service) {
  service_ = &service;
  served_.emplace(service, [this](Code code, uint32_t socket, uint32_t request,
                                  std::span<const std::byte> payload, uint16_t flags) {
    Write(code, socket, request, {payload}, flags);
  });
  service.SetReceiver([this](SocketEvent event) { ReceiveServed(std::move(event)); });
}

void AgentClient::WriteToSocket(Code code, uint32_t socket, uint32_t request,
                                std::initializer_list<std::span<const std::byte>> parts,
                                uint16_t flags) {
  if (served_ && IsSocketRequest(code) && served_->Take(code, socket, request, parts, flags))
    return;
  Write(code, socket, request, parts, flags);
}

uint32_t AgentClient::Tell(Code code, uint32_t subject,
                           std::initializer_list<std::span<const std::byte>> parts,
                           uint16_t flags) {
  const uint32_t request = NextRequest();
  if (holds_sockets_ && IsSocketRequest(code)) {
    std::vector<std::byte> bytes;
    for (const auto& part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
    held_.push_back({code, subject, request, flags, [bytes = std::move(bytes)] { return bytes; }});
  } else {
    WriteToSocket(code, subject, request, parts, flags);
  }
  return request;
}

uint32_t AgentClient::TellLate(Code code, uint32_t socket, Payload payload) {
  const uint32_t request = NextRequest();
  if (holds_sockets_) {
    held_.push_back({code, socket, request, 0, std::move(payload)});
  } else {
    WriteToSocket(code, socket, request, {payload()}, 0);
  }
  return request;
}

void AgentClient::ReleaseSockets() {
  holds_sockets_ = false;
  for (const Held& held : std::exchange(held_, {})) {
    WriteToSocket(held.code, held.socket, held.request, {held.payload()}, held.flags);
  }
}

uint32_t AgentClient::Ask(Code code, uint32_t subject,
                          std::initializer_list<std::span<const std::byte>> parts,
                          OnAnswer on_answer) {
  const uint32_t request = Tell(code, subject, parts);
  asked_[request] = {std::move(on_answer), code, subject};
  return request;
}

void AgentClient::Flush() { writer_.Flush(); }

void AgentClient::Receive(std::span<const std::byte> message) {
  reader_.Read(message, [&](const Operation& operation) {
    Waiting waiting{operation, {operation.payload.begin(), operation.payload.end()}};
    waiting.operation.payload = waiting.payload;
    waiting_.push_back(std::move(waiting));
  });
  ScheduleOnce(&delivery_scheduled_, &AgentClient::DeliverAll);
}

void AgentClient::ReceiveServed(SocketEvent event) {
  Waiting waiting;
  if (event.code == SocketEvent::Code::kReleased) {
    waiting.operation.subject = event.socket;
    waiting.released = true;
  } else {
    const auto operation = served_->ToOperation(std::move(event), &waiting.payload);
    if (!operation) return;
    waiting.operation = *operation;
    waiting.operation.payload = waiting.payload;
  }
  waiting_.push_back(std::move(waiting));
  ScheduleOnce(&delivery_scheduled_, &AgentClient::DeliverAll);
}

void AgentClient::DeliverAll() {
  while (!waiting_.empty()) {
    const Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    Deliver(first);
  }
}

bool AgentClient::Await(uint32_t request) {
  Flush();
  if (!channel_.Settle()) return false;
  const auto answer = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.operation.request == request;
  });
  if (answer == waiting_.end()) return false;
  const Waiting found = std::move(*answer);
  waiting_.erase(answer);
  Deliver(found);
  return true;
}

// Runs the guest repeatedly: operations are passed to the kernel only when kReady is received, and
// the kernel carries out these operations in a later run.
void AgentClient::AwaitFailures(uint32_t socket) {
  Flush();
  while (channel_.Settle() && DeliverAnswerTo(socket)) Flush();
}

// Delivers the first pending answer (kReady, kBound or kFailed) to a request about the socket.
// Returns false if there is none.
bool AgentClient::DeliverAnswerTo(uint32_t socket) {
  const auto answer = std::ranges::find_if(waiting_, [socket](const Waiting& waiting) {
    const Code code = waiting.operation.code;
    return !waiting.released && waiting.operation.subject == socket &&
           (code == Code::kReady || code == Code::kBound || code == Code::kFailed);
  });
  if (answer == waiting_.end()) return false;
  const Waiting found = std::move(*answer);
  waiting_.erase(answer);
  Deliver(found);
  return true;
}

void AgentClient::Deliver(const Waiting& waiting) {
  const Operation& operation = waiting.operation;
  if (waiting.released) return served_->Released(operation.subject);
  if (operation.code == Code::kHello) {
    release_ = agent::FixedText(operation.As<agent::Hello>().release);
    return;
  }
  const auto handler = handlers_.find(operation.code);
  if (handler != handlers_.end()) {
    handler->second(operation);
    return;
  }
  if (DeliverAnswer(operation)) return;
  if (!IsSocketEvent(operation.code) && operation.code != Code::kFailed) return;
  if (served_) served_->Note(operation);
  if (operation.code == Code::kReady) return;  // only ServedSockets uses kReady
  const auto socket = sockets_.find(operation.subject);
  if (socket != sockets_.end()) DeliverToSocket(*socket->second, operation);
}

bool AgentClient::DeliverAnswer(const Operation& operation) {
  const auto found = asked_.find(operation.request);
  if (found == asked_.end()) return false;
  const Asked asked = std::move(found->second);
  asked_.erase(found);
  Answer answer;
  answer.result = operation.payload;
  if (operation.code == Code::kFailed) {
    const auto failed = operation.As<agent::Failed>();
    answer.error_number = failed.error_number;
    answer.words = std::string(operation.Text(sizeof failed));
    answer.result = {};
  }
  if (asked.on_answer) {
    asked.on_answer(answer);
  } else if (answer.error_number != 0) {
    ReportFailure(asked.subject, asked.code, answer.words);
  }
  return true;
}

void AgentClient::ReportFailure(uint32_t node, Code code, const std::string& words) {
  const auto name = node_names_.find(node);
  on_failure_("kernel node " + (name == node_names_.end() ? "?" : name->second) + ": " +
              std::string(Describe(code)) + ": " + words);
}

void AgentClient::DeliverToSocket(SocketEvents& socket, const Operation& operation) {
  switch (operation.code) {
    case Code::kBound:
      socket.OnBound(operation.As<Endpoint>());
      break;
    case Code::kConnected: {
      const auto connected = operation.As<agent::Connected>();
      socket.OnConnected(connected.local, connected.peer);
      break;
    }
    case Code::kAccepted:
      socket.OnAccepted(operation.As<agent::Accepted>());
      break;
    case Code::kData:
      socket.OnData(ParseData(operation));
      break;
    case Code::kWritten:
      socket.OnWritten(operation.As<uint64_t>());
      break;
    case Code::kEnd:
      socket.OnEnd();
      break;
    case Code::kBroken:
      socket.OnBroken(static_cast<int>(operation.As<uint32_t>()));
      break;
    case Code::kOption:
      socket.OnOption(operation.As<agent::SocketOption>(),
                      operation.After(sizeof(agent::SocketOption)));
      break;
    case Code::kFailed: {
      const auto failed = operation.As<agent::Failed>();
      socket.OnFailed(static_cast<Code>(failed.code), failed.error_number);
      break;
    }
    default:
      throw agent::ProtocolError("unknown event " +
                                 std::to_string(static_cast<int>(operation.code)));
  }
}

uint32_t AgentClient::NewSocket(SocketEvents* events) {
  while (sockets_.contains(next_socket_) || next_socket_ == 0) {
    next_socket_ = (next_socket_ + 1) % agent::kAccepted;
  }
  sockets_[next_socket_] = events;
  return next_socket_++;
}

void AgentClient::Attach(uint32_t socket, SocketEvents* events) { sockets_[socket] = events; }

void AgentClient::Detach(uint32_t socket) { sockets_.erase(socket); }

// clang-tidy does not see that the parameter `on_answer` of the template is moved.
template <class Request>
void AgentClient::AskNode(Code code, uint32_t node, const Request& request,
                          OnAnswer on_answer) {  // NOLINT(performance-unnecessary-value-param)
  Ask(code, node, {BytesOf(request)}, std::move(on_answer));
}

uint32_t AgentClient::CreateNode(const std::string& name, OnAnswer on_answer) {
  const uint32_t node = next_node_++;
  node_names_[node] = name;
  AskNode(Code::kCreateNode, node, std::string_view(name), std::move(on_answer));
  return node;
}

void AgentClient::MoveInterface(uint32_t node, const wire::MacAddress& mac, const std::string& name,
                                std::function<void(const agent::Interface&)> done) {
  agent::MoveInterface request{};
  std::copy(mac.bytes.begin(), mac.bytes.end(), request.mac);
  if (name.size() >= sizeof request.name) {
    throw UsageError("interface name " + name + ": longer than 15 characters");
  }
  name.copy(request.name, sizeof request.name);
  AskNode(Code::kMoveInterface, node, request,
          [this, node, name, done = std::move(done)](const Answer& answer) {
            if (answer.error_number != 0) {
              on_failure_("kernel node " + node_names_[node] + ": " + name + ": " + answer.words);
              return;
            }
            agent::Interface interface {};
            std::memcpy(&interface, answer.result.data(),
                        std::min(answer.result.size(), sizeof interface));
            if (done) done(interface);
          });
}

void AgentClient::SetUp(uint32_t node, int ifindex, bool up) {
  AskNode(Code::kSetLink, node, agent::SetLink{ifindex, up ? 1 : 0, 0, -1});
}

void AgentClient::SetMtu(uint32_t node, int ifindex, uint32_t mtu) {
  AskNode(Code::kSetLink, node, agent::SetLink{ifindex, -1, mtu, -1});
}

void AgentClient::SetUpAndArp(uint32_t node, int ifindex, bool up, bool arp) {
  AskNode(Code::kSetLink, node, agent::SetLink{ifindex, up ? 1 : 0, 0, arp ? 1 : 0});
}

void AgentClient::AddAddress(uint32_t node, int ifindex, const wire::IpPrefix& address,
                             bool is_connected) {
  agent::InterfaceAddress request = ToRequest(ifindex, address);
  request.no_route = is_connected ? 0 : 1;
  AskNode(Code::kAddAddress, node, request);
}

void AgentClient::RemoveAddress(uint32_t node, int ifindex, const wire::IpPrefix& address) {
  AskNode(Code::kRemoveAddress, node, ToRequest(ifindex, address));
}

void AgentClient::AskRoute(Code code, uint32_t node, const KernelRoute& route, OnAnswer on_answer) {
  const std::vector<agent::RouteHop> hops = HopsOf(route);
  Ask(code, node, {BytesOf(ToRequest(route)), std::as_bytes(std::span(hops))},
      std::move(on_answer));
}

void AgentClient::AddRoute(uint32_t node, const KernelRoute& route) {
  AskRoute(Code::kAddRoute, node, route, {});
}

void AgentClient::RemoveRoute(uint32_t node, const KernelRoute& route, OnAnswer on_answer) {
  AskRoute(Code::kRemoveRoute, node, route, std::move(on_answer));
}

void AgentClient::AddNeighbour(uint32_t node, int ifindex, const wire::IpAddress& address,
                               const wire::MacAddress& mac) {
  agent::Neighbour neighbour{ifindex, {}, {}, agent::ToEndpoint(address)};
  std::copy(mac.bytes.begin(), mac.bytes.end(), neighbour.mac);
  AskNode(Code::kAddNeighbour, node, neighbour);
}

void AgentClient::WriteSysctl(uint32_t node, const std::string& name, const std::string& value,
                              OnAnswer on_answer) {
  const char zero = '\0';
  Ask(Code::kWriteSysctl, node,
      {BytesOf(std::string_view(name)), BytesOf(zero), BytesOf(std::string_view(value))},
      std::move(on_answer));
}

void AgentClient::AddRule(uint32_t node, const wire::IpPrefix& from, uint32_t table) {
  const agent::Rule rule{static_cast<uint32_t>(from.length), table, 0, 0,
                         agent::ToEndpoint(from.address)};
  AskNode(Code::kAddRule, node, rule);
}

void AgentClient::AddLastRule(uint32_t node, wire::Family family, int incoming, uint32_t table) {
  // The priority number of the rule. It is higher than the priority numbers of the kernel's default
  // rules, 32766 and 32767 (linux/fib_rules.c).
  constexpr uint32_t kAfterTheDefaults = 40000;
  const agent::Rule rule{0, table, kAfterTheDefaults, incoming, agent::ToEndpoint({family, {}})};
  AskNode(Code::kAddRule, node, rule);
}

void AgentClient::AddMptcpEndpoint(uint32_t node, int ifindex, const wire::IpAddress& address,
                                   uint32_t flags) {
  const agent::MptcpEndpoint endpoint{ifindex, flags, agent::ToEndpoint(address)};
  AskNode(Code::kAddMptcpEndpoint, node, endpoint);
}

void AgentClient::SetMptcpLimits(uint32_t node, uint32_t subflows, uint32_t addresses) {
  const agent::MptcpLimits limits{subflows, addresses};
  AskNode(Code::kSetMptcpLimits, node, limits);
}

}  // namespace viaduct::guest
