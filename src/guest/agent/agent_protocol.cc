#include "guest/agent/agent_protocol.h"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace viaduct::guest::agent {
namespace {

size_t Padded(size_t length) { return (length + kAlignment - 1) / kAlignment * kAlignment; }

MessageHeader CheckHeader(std::span<const std::byte> message) {
  if (message.size() < sizeof(MessageHeader)) throw ProtocolError("truncated message");
  MessageHeader header;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.magic != kMagic) throw ProtocolError("invalid message (wrong magic number)");
  if (header.version != kVersion) {
    throw ProtocolError("the guest uses version " + std::to_string(header.version) +
                        ", viaduct uses version " + std::to_string(kVersion) +
                        ": rebuild the kernel and viaduct-guest");
  }
  if (header.length != message.size() || header.length > kMaxMessage) {
    throw ProtocolError("message of a wrong length");
  }
  return header;
}

// Removes the first operation from `rest` and returns it.
Operation TakeOperation(std::span<const std::byte>& rest) {
  if (rest.size() < sizeof(OperationHeader)) throw ProtocolError("truncated operation");
  OperationHeader header;
  std::memcpy(&header, rest.data(), sizeof header);
  rest = rest.subspan(sizeof header);
  if (header.length > rest.size() || Padded(header.length) > rest.size()) {
    throw ProtocolError("operation longer than its message");
  }
  Operation operation;
  operation.code = static_cast<Code>(header.code);
  operation.flags = header.flags;
  operation.subject = header.subject;
  operation.request = header.request;
  operation.payload = rest.first(header.length);
  rest = rest.subspan(Padded(header.length));
  return operation;
}

}  // namespace

std::span<const std::byte> Operation::After(size_t offset) const {
  if (payload.size() < offset) ThrowShort();
  return payload.subspan(offset);
}

std::string_view Operation::Text(size_t offset) const {
  const auto text = After(offset);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

void Operation::ThrowShort() const {
  throw ProtocolError("operation " + std::to_string(static_cast<int>(code)) + " is too short");
}

MessageWriter::MessageWriter(size_t max_message, Sender send)
    : max_message_(std::min(max_message, kMaxMessage)), send_(std::move(send)) {
  buffer_.reserve(max_message_);
}

void MessageWriter::Add(Code code, uint32_t subject, uint32_t request,
                        std::initializer_list<std::span<const std::byte>> parts, uint16_t flags) {
  size_t length = 0;
  for (const auto& part : parts) length += part.size();
  const size_t needed = sizeof(OperationHeader) + Padded(length);
  if (sizeof(MessageHeader) + needed > max_message_) {
    throw UsageError(std::string(Describe(code)) + ": " + std::to_string(length) +
                     " bytes are too many for one message to the agent of the kernel");
  }
  if (operations_ == UINT16_MAX || buffer_.size() + needed > max_message_) Flush();
  if (operations_ == 0) buffer_.resize(sizeof(MessageHeader));
  const OperationHeader header{static_cast<uint16_t>(code), flags, static_cast<uint32_t>(length),
                               subject, request};
  const auto append = [&](std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  };
  append(BytesOf(header));
  for (const auto& part : parts) append(part);
  buffer_.resize(buffer_.size() + Padded(length) - length);
  ++operations_;
}

void MessageWriter::Flush() {
  if (operations_ == 0) return;
  const MessageHeader header{kMagic, kVersion, operations_, static_cast<uint32_t>(buffer_.size()),
                             sequence_++};
  std::memcpy(buffer_.data(), &header, sizeof header);
  operations_ = 0;
  // Moves the bytes out of `buffer_` before calling `send_`, because `send_` may add operations,
  // which start a new message in `buffer_`.
  std::vector<std::byte> message;
  message.swap(buffer_);
  send_(message);
  if (buffer_.capacity() == 0) {
    message.clear();
    buffer_ = std::move(message);
  }
}

void MessageReader::Read(std::span<const std::byte> message,
                         const std::function<void(const Operation&)>& each) {
  const MessageHeader header = CheckHeader(message);
  if (header.sequence != sequence_) {
    throw ProtocolError("message " + std::to_string(sequence_) + " was lost: message " +
                        std::to_string(header.sequence) + " arrived instead");
  }
  const auto body = message.subspan(sizeof header);
  auto rest = body;
  for (int i = 0; i < header.operations; ++i) TakeOperation(rest);
  if (!rest.empty()) throw ProtocolError("bytes after the last operation");
  ++sequence_;
  rest = body;
  for (int i = 0; i < header.operations; ++i) each(TakeOperation(rest));
}

Endpoint ToEndpoint(const wire::IpAddress& address, uint16_t port, uint32_t scope) {
  Endpoint endpoint{};
  endpoint.family = address.family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
  endpoint.port = port;
  endpoint.scope = scope;
  std::copy(address.bytes.begin(), address.bytes.end(), endpoint.address);
  return endpoint;
}

wire::IpAddress FromEndpoint(const Endpoint& endpoint) {
  if (endpoint.family != AF_INET && endpoint.family != AF_INET6) {
    throw ProtocolError("address of unknown family " + std::to_string(endpoint.family));
  }
  wire::IpAddress address;
  address.family = endpoint.family == AF_INET ? wire::Family::kIpv4 : wire::Family::kIpv6;
  std::copy_n(endpoint.address, address.Length(), address.bytes.begin());
  return address;
}

std::string_view Describe(Code code) {
  static constexpr std::pair<Code, std::string_view> kWords[] = {
      {Code::kCreateNode, "create a node"},
      {Code::kMoveInterface, "move an interface to the node"},
      {Code::kSetLink, "set a link"},
      {Code::kAddAddress, "add an address"},
      {Code::kRemoveAddress, "remove an address"},
      {Code::kAddRoute, "add a route"},
      {Code::kRemoveRoute, "remove a route"},
      {Code::kAddNeighbour, "add a neighbour"},
      {Code::kWriteSysctl, "write a kernel parameter"},
      {Code::kAddRule, "add a routing rule"},
      {Code::kAddMptcpEndpoint, "add an MPTCP endpoint"},
      {Code::kSetMptcpLimits, "set the limits of MPTCP"},
      {Code::kOpenSocket, "open a socket"},
      {Code::kBind, "bind a socket"},
      {Code::kListen, "listen on a socket"},
      {Code::kConnect, "connect a socket"},
      {Code::kSend, "send"},
      {Code::kShutdown, "shut a socket down"},
      {Code::kClose, "close a socket"},
      {Code::kSetOption, "set a socket option"},
      {Code::kGetOption, "get a socket option"},
  };
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                   [code](const auto& row) { return row.first == code; });
  return found == std::end(kWords) ? "an operation" : found->second;
}

}  // namespace viaduct::guest::agent
