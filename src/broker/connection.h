// Messages over a SOCK_SEQPACKET socket, with descriptors.
#pragma once

#include <string_view>
#include <vector>

#include "base/fd.h"
#include "broker/protocol.h"

namespace viaduct::broker {

class Connection {
 public:
  explicit Connection(UniqueFd socket) : socket_(std::move(socket)) {}

  int Fd() const { return socket_.get(); }

  // Sends one message; `flags` are those of send(2) (MSG_DONTWAIT). The caller keeps owning the
  // descriptors. Throws SystemError.
  void Send(MessageType type, uint32_t sequence, std::string_view payload,
            const std::vector<int>& descriptors = {}, int flags = 0);

  enum class Status { kMessage, kIncomplete, kEnd };
  // Receives one packet from the socket (waits for it, unless `flags` has MSG_DONTWAIT: then
  // kIncomplete if there is none). Returns kMessage if it completed *message, kEnd if the peer has
  // closed or shut down. Throws ProtocolError; descriptors received with a bad packet are closed.
  Status Receive(Message* message, int flags = 0);

 private:
  UniqueFd socket_;
  MessageAssembler assembler_;
};

}  // namespace viaduct::broker
