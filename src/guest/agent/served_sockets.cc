#include "guest/agent/served_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace viaduct::guest {

using agent::BytesOf;
using agent::Code;

namespace {

std::vector<std::byte> Joined(ServedSockets::Parts parts) {
  std::vector<std::byte> bytes;
  for (const auto& part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

template <class T>
T First(ServedSockets::Parts parts) {
  const std::vector<std::byte> bytes = Joined(parts);
  agent::Operation operation;
  operation.payload = bytes;
  return operation.As<T>();
}

bool CanBeServed(const agent::OpenSocket& request) {
  return request.type == SOCK_STREAM && (request.protocol == 0 || request.protocol == IPPROTO_TCP);
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
  return socket.adopted ? TakeAdopted(socket, code, number, request, parts, flags)
                        : TakeUnconnected(socket, code, number, request, parts, flags);
}

bool ServedSockets::Open(uint32_t number, uint32_t request, Parts parts) {
  auto open = First<agent::OpenSocket>(parts);
  if (!service_.Available() || !CanBeServed(open)) return false;
  sockets_[number].credit = open.credit;
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
      if (!socket.connecting) return false;  // the agent knows why it fails
      socket.held.push_back({code, request, flags, Joined(parts)});
      return true;
    case Code::kClose:  // the agent sends what is held once it is connected, and then closes it
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
      if ((flags & agent::kZeros) != 0) {
        PutPieces({Operation::kSend, number, 0, true, false}, First<uint64_t>(parts));
      } else {
        service_.Put({Operation::kSend, number, 0, false, false}, parts);
      }
      return true;
    case Code::kCredit:
      PutCredit(number, First<uint64_t>(parts));
      return true;
    case Code::kShutdown:
      service_.Put({Operation::kShutdown, number, First<uint32_t>(parts), false, false}, {});
      return true;
    case Code::kSetOption:
      service_.Put({Operation::kOption, number, 0, false, false}, parts);
      return true;
    case Code::kClose:
      socket.closing = true;
      socket.close_request = request;
      socket.close_flags = flags;
      service_.Put({Operation::kRelease, number, 0, false, (flags & agent::kAbort) != 0}, {});
      return true;
    default:
      return false;
  }
}

// An operation's value has 32 bits.
void ServedSockets::PutPieces(SocketOperation operation, uint64_t value) {
  for (uint64_t left = value; left > 0; left -= operation.value) {
    operation.value =
        static_cast<uint32_t>(std::min<uint64_t>(left, std::numeric_limits<uint32_t>::max()));
    service_.Put(operation, {});
  }
}

void ServedSockets::PutCredit(uint32_t number, uint64_t bytes) {
  PutPieces({SocketOperation::Code::kCredit, number, 0, false, false}, bytes);
}

void ServedSockets::Note(const agent::Operation& event) {
  const auto found = sockets_.find(event.subject);
  if (found == sockets_.end()) return;
  if (event.code == Code::kConnected) {
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
      sockets_.erase(found);  // there is none
    }
  }
}

void ServedSockets::Adopt(Socket& socket, uint32_t number, uint32_t descriptor) {
  socket.adopted = true;
  service_.Put({SocketOperation::Code::kAdopt, number, descriptor, false, false}, {});
  PutCredit(number, socket.credit);
  for (const Held& held : std::exchange(socket.held, {}))
    TakeAdopted(socket, held.code, number, held.request, {held.payload}, held.flags);
}

void ServedSockets::Released(uint32_t number) {
  const auto found = sockets_.find(number);
  if (found == sockets_.end() || !found->second.closing)
    throw agent::ProtocolError("a socket was released that is in use");
  to_agent_(Code::kClose, number, found->second.close_request, {}, found->second.close_flags);
  sockets_.erase(found);
}

}  // namespace viaduct::guest
