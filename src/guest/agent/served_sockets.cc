#include "guest/agent/served_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "guest/agent/packet_info.h"
#include "guest/agent/socket_address.h"

namespace viaduct::guest {

using agent::BytesOf;
using agent::Code;

namespace {

std::vector<std::byte> Joined(ServedSockets::Parts parts) {
  std::vector<std::byte> bytes;
  for (const auto& part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

agent::Operation AsRequest(std::span<const std::byte> bytes) {
  agent::Operation request;
  request.payload = bytes;
  return request;
}

template <class T>
T First(ServedSockets::Parts parts) {
  const std::vector<std::byte> bytes = Joined(parts);
  return AsRequest(bytes).As<T>();
}

bool IsTcp(const agent::OpenSocket& request) {
  return request.type == SOCK_STREAM && (request.protocol == 0 || request.protocol == IPPROTO_TCP);
}

// Returns whether a kernel that serves more than TCP sockets can serve the socket. The socket must
// have at most one association or connection, as all sockets that the simulator opens have.
bool IsMessages(const agent::OpenSocket& request) {
  return request.type == SOCK_STREAM || request.type == SOCK_DCCP || request.type == SOCK_DGRAM ||
         request.type == SOCK_RAW;
}

bool IsConnectionless(const agent::OpenSocket& request) {
  return request.type == SOCK_DGRAM || request.type == SOCK_RAW;
}

// Returns the code of the request whose failure the kernel reports. Throws SystemError, which ends
// the run, if the kernel failed to adopt a socket, because in that case nothing serves the socket.
Code CodeOf(const SocketEvent& event) {
  switch (static_cast<SocketOperation::Code>(event.flags)) {
    case SocketOperation::Code::kAdopt:
      throw SystemError("could not hand over a socket to its kernel",
                        static_cast<int>(event.value));
    case SocketOperation::Code::kCredit:
      return Code::kCredit;
    case SocketOperation::Code::kShutdown:
      return Code::kShutdown;
    case SocketOperation::Code::kOption:
      return Code::kSetOption;
    case SocketOperation::Code::kRelease:
      return Code::kClose;
    default:
      return Code::kSend;
  }
}

void Append(std::span<const std::byte> bytes, std::vector<std::byte>* to) {
  to->insert(to->end(), bytes.begin(), bytes.end());
}

// Appends a message's ancillary data (sender, control messages), which precedes the bytes of the
// message, to `payload`. Returns the flags of kData for this data.
uint16_t TakeAncillary(SocketEvent& event, std::vector<std::byte>* payload) {
  uint16_t flags = 0;
  agent::SocketAddress name;
  name.length = static_cast<socklen_t>(event.name.size());
  std::copy(event.name.begin(), event.name.end(), reinterpret_cast<std::byte*>(&name.storage));
  const agent::Endpoint from = agent::FromSocketAddress(name);
  if (from.family != AF_UNSPEC) {
    Append(BytesOf(from), payload);
    flags |= agent::kToEndpoint;
  }
  msghdr header{};
  header.msg_control = event.control.data();
  header.msg_controllen = event.control.size();
  agent::PacketInfo info;
  if (agent::ReadPacketInfo(header, &info)) {
    Append(BytesOf(info), payload);
    flags |= agent::kWithInfo;
  }
  return flags;
}

}  // namespace

ServedSockets::ServedSockets(SocketService& service, ToAgent to_agent)
    : service_(service), to_agent_(std::move(to_agent)) {}

bool ServedSockets::Take(Code code, uint32_t number, uint32_t request, Parts parts,
                         uint16_t flags) {
  if (code == Code::kOpenSocket) return Open(number, request, parts);
  const auto found = sockets_.find(number);
  if (found == sockets_.end()) return false;
  Socket& socket = found->second;
  if (socket.connectionless) return TakeConnectionless(socket, code, number, request, parts, flags);
  return socket.adopted ? TakeAdopted(socket, code, number, request, parts, flags)
                        : TakeUnconnected(socket, code, number, request, parts, flags);
}

bool ServedSockets::Open(uint32_t number, uint32_t request, Parts parts) {
  auto open = First<agent::OpenSocket>(parts);
  const bool can = service_.ServesMessages() ? IsMessages(open) : IsTcp(open);
  if (!service_.Available() || !can) return false;
  Socket& socket = sockets_[number];
  socket.credit = open.credit;
  socket.connectionless = IsConnectionless(open);
  if (socket.connectionless) socket.asked.insert(request);
  open.kernel_serves = 1;
  to_agent_(Code::kOpenSocket, number, request, BytesOf(open), 0);
  return true;
}

bool ServedSockets::TakeUnconnected(Socket& socket, Code code, uint32_t number, uint32_t request,
                                    Parts parts, uint16_t flags) {
  switch (code) {
    case Code::kListen:
      socket.credit = First<agent::Listen>(parts).credit;
      return false;
    case Code::kConnect:
      socket.connecting = true;
      return false;
    case Code::kCredit:
      socket.credit += First<uint64_t>(parts);
      return true;
    case Code::kSend:
    case Code::kShutdown:
      if (!socket.connecting) return false;  // the agent reports why the request fails
      socket.held.push_back({code, request, flags, Joined(parts)});
      return true;
    // The agent sends the held data of an unconnected socket once the socket is connected, and then
    // closes the socket.
    case Code::kClose:
      for (const Held& held : socket.held)
        to_agent_(held.code, number, held.request, held.payload, held.flags);
      sockets_.erase(number);
      return false;
    default:
      return false;
  }
}

bool ServedSockets::TakeAdopted(Socket& socket, Code code, uint32_t number, uint32_t request,
                                Parts parts, uint16_t flags) {
  using Operation = SocketOperation::Code;
  switch (code) {
    case Code::kSend:
      Send(number, parts, flags);
      return true;
    case Code::kCredit:
      PutCredit(number, First<uint64_t>(parts));
      return true;
    case Code::kShutdown:
      service_.Put({Operation::kShutdown, number, First<uint32_t>(parts), false, false, false}, {});
      return true;
    case Code::kSetOption:
      service_.Put({Operation::kOption, number, 0, false, false, false}, parts);
      return true;
    case Code::kClose:
      socket.closing = true;
      socket.close_request = request;
      socket.close_flags = flags;
      service_.Put({Operation::kRelease, number, 0, false, (flags & agent::kAbort) != 0, false},
                   {});
      return true;
    default:
      return false;
  }
}

bool ServedSockets::TakeConnectionless(Socket& socket, Code code, uint32_t number, uint32_t request,
                                       Parts parts, uint16_t flags) {
  if (code == Code::kCredit && !socket.adopted) {
    socket.credit += First<uint64_t>(parts);
    return true;
  }
  if (!socket.held.empty()) {
    socket.held.push_back({code, request, flags, Joined(parts)});
    return true;
  }
  switch (code) {
    case Code::kBind:
    case Code::kConnect:
      socket.asked.insert(request);
      return false;
    case Code::kSetOption:
      if (socket.asked.empty()) break;
      socket.asked.insert(request);
      to_agent_(code, number, request, Joined(parts), flags | agent::kAnswer);
      return true;
    case Code::kListen:
    case Code::kGetOption:
      return false;
    default:
      if (socket.asked.empty()) break;
      socket.held.push_back({code, request, flags, Joined(parts)});
      return true;
  }
  return TakeAdopted(socket, code, number, request, parts, flags);
}

void ServedSockets::Send(uint32_t number, Parts parts, uint16_t flags) {
  SocketOperation operation{SocketOperation::Code::kSend, number, 0, false, false, false};
  operation.zeros = (flags & agent::kZeros) != 0;
  operation.message = (flags & agent::kToEndpoint) != 0;
  if (!operation.message && !operation.zeros) return service_.Put(operation, parts);
  if (!operation.message) return PutPieces(operation, First<uint64_t>(parts));
  // `parts` has the receiver's endpoint and the data: as two parts, or as one part if the message
  // was held.
  std::span<const std::byte> front = *parts.begin();
  std::span<const std::byte> data;
  std::vector<std::byte> joined;
  if (parts.size() == 2 && front.size() == sizeof(agent::Endpoint)) {
    data = *std::next(parts.begin());
  } else {
    joined = Joined(parts);
    front = joined;
    data = AsRequest(front).After(sizeof(agent::Endpoint));
  }
  auto to = agent::ToSocketAddress(AsRequest(front).As<agent::Endpoint>());
  const auto name = std::as_bytes(std::span(&to.storage, 1)).first(to.length);
  if (operation.zeros) {
    const auto count = AsRequest(data).As<uint64_t>();
    // Replaces a count of more than 32 bits by the maximum of 32 bits. No message is that long, so
    // the kernel reports the same error for both counts.
    operation.value =
        static_cast<uint32_t>(std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
    data = {};
  } else {
    operation.value = static_cast<uint32_t>(data.size());
  }
  service_.Put(operation, {data, name});
}

// Splits `value` between several operations, because the value of one operation has 32 bits.
void ServedSockets::PutPieces(SocketOperation operation, uint64_t value) {
  for (uint64_t left = value; left > 0; left -= operation.value) {
    operation.value =
        static_cast<uint32_t>(std::min<uint64_t>(left, std::numeric_limits<uint32_t>::max()));
    service_.Put(operation, {});
  }
}

void ServedSockets::PutCredit(uint32_t number, uint64_t bytes) {
  PutPieces({SocketOperation::Code::kCredit, number, 0, false, false, false}, bytes);
}

void ServedSockets::Note(const agent::Operation& event) {
  const auto found = sockets_.find(event.subject);
  if (found == sockets_.end()) return;
  if (found->second.connectionless) {
    NoteAnswer(found->second, event);
  } else if (event.code == Code::kConnected) {
    if (found->second.adopted) throw agent::ProtocolError("a socket was connected twice");
    Adopt(found->second, event.subject, event.As<agent::Connected>().descriptor);
  } else if (event.code == Code::kAccepted) {
    const auto accepted = event.As<agent::Accepted>();
    if (sockets_.contains(accepted.socket))
      throw agent::ProtocolError("a connection was accepted twice");
    Socket& socket = sockets_[accepted.socket];
    socket.credit = found->second.credit;
    Adopt(socket, accepted.socket, accepted.descriptor);
  } else if (event.code == Code::kFailed && !found->second.adopted) {
    const auto failed = static_cast<Code>(event.As<agent::Failed>().code);
    if (failed == Code::kConnect) {
      found->second.connecting = false;
      found->second.held.clear();
    } else if (failed == Code::kOpenSocket) {
      sockets_.erase(found);  // the agent failed to open the socket
    }
  }
}

void ServedSockets::NoteAnswer(Socket& socket, const agent::Operation& event) {
  const uint32_t number = event.subject;
  if (socket.asked.erase(event.request) == 0) return;
  if (event.code == Code::kFailed &&
      static_cast<Code>(event.As<agent::Failed>().code) == Code::kOpenSocket) {
    // The socket does not exist: the agent answers each held request with an error.
    for (const Held& held : socket.held)
      to_agent_(held.code, number, held.request, held.payload, held.flags);
    sockets_.erase(number);
    return;
  }
  if (event.code == Code::kReady && !socket.adopted) {
    socket.adopted = true;
    service_.Put({SocketOperation::Code::kAdopt, number, event.As<uint32_t>(), false, false, false},
                 {});
    PutCredit(number, socket.credit);
  }
  // Keeps the held requests until `asked` is empty, which means that the agent has answered. If one
  // of the held requests goes to the agent, the requests that follow it are held again.
  if (!socket.asked.empty()) return;
  for (const Held& held : std::exchange(socket.held, {})) {
    if (!TakeConnectionless(socket, held.code, number, held.request, {held.payload}, held.flags))
      to_agent_(held.code, number, held.request, held.payload, held.flags);
  }
}

void ServedSockets::Adopt(Socket& socket, uint32_t number, uint32_t descriptor) {
  socket.adopted = true;
  service_.Put({SocketOperation::Code::kAdopt, number, descriptor, false, false, false}, {});
  PutCredit(number, socket.credit);
  for (const Held& held : std::exchange(socket.held, {}))
    TakeAdopted(socket, held.code, number, held.request, {held.payload}, held.flags);
}

void ServedSockets::Released(uint32_t number) {
  const auto found = sockets_.find(number);
  if (found == sockets_.end() || !found->second.closing)
    throw agent::ProtocolError("a socket in use was released");
  to_agent_(Code::kClose, number, found->second.close_request, {}, found->second.close_flags);
  sockets_.erase(found);
}

bool ServedSockets::Join(SocketEvent& event) {
  const auto found = sockets_.find(event.socket);
  if (found == sockets_.end()) return !event.part;
  Socket& socket = found->second;
  if (!event.part && socket.begun == 0) return true;
  if (!event.zeros || !socket.begun_bytes.empty()) {
    socket.begun_bytes.resize(socket.begun);  // the earlier parts were zeros
    event.bytes.resize(event.value);
    Append(event.bytes, &socket.begun_bytes);
  }
  socket.begun += event.value;
  if (socket.begun > agent::kMaxMessage) throw agent::ProtocolError("message too long");
  if (event.part) return false;
  event.value = static_cast<uint32_t>(std::exchange(socket.begun, 0));
  event.bytes = std::exchange(socket.begun_bytes, {});
  event.zeros = event.bytes.empty();
  return true;
}

std::optional<agent::Operation> ServedSockets::ToOperation(SocketEvent event,
                                                           std::vector<std::byte>* payload) {
  if (event.message && !Join(event)) return std::nullopt;
  agent::Operation operation;
  operation.subject = event.socket;
  const auto set = [&](Code code, const auto& value) {
    operation.code = code;
    Append(BytesOf(value), payload);
  };
  payload->clear();
  switch (event.code) {
    case SocketEvent::Code::kData:
      if (event.message) operation.flags |= TakeAncillary(event, payload);
      if (event.zeros) {
        set(Code::kData, uint64_t{event.value});
        operation.flags |= agent::kZeros;
      } else {
        operation.code = Code::kData;
        if (payload->empty()) {
          *payload = std::move(event.bytes);
        } else {
          Append(event.bytes, payload);
        }
      }
      break;
    case SocketEvent::Code::kWritten:
      set(Code::kWritten, uint64_t{event.value});
      break;
    case SocketEvent::Code::kEnd:
      operation.code = Code::kEnd;
      break;
    case SocketEvent::Code::kBroken:
      set(Code::kBroken, event.value);
      break;
    case SocketEvent::Code::kFailed:
      set(Code::kFailed, agent::Failed{static_cast<int32_t>(event.value),
                                       static_cast<uint16_t>(CodeOf(event)), 0});
      break;
    case SocketEvent::Code::kReleased:
      throw agent::ProtocolError("unexpected event: the end of a served socket");
  }
  operation.payload = *payload;
  return operation;
}

}  // namespace viaduct::guest
