// Sends and receives messages over a SOCK_SEQPACKET socket, with descriptors.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "sys/ipc/message.h"

namespace viaduct::ipc {

class Connection {
 public:
  // `service` must outlive this object.
  Connection(UniqueFd socket, const Service& service)
      : socket_(std::move(socket)), service_(&service), assembler_(service) {}

  int fd() const { return socket_.get(); }
  const Service& service() const { return *service_; }

  // Sends one message; `flags` are those of send(2) (MSG_DONTWAIT). The caller keeps owning the
  // descriptors. Throws SystemError.
  void Send(Code code, uint32_t sequence, std::string_view payload,
            const std::vector<int>& descriptors = {}, int flags = 0);

  enum class Status { kMessage, kIncomplete, kEnd };
  // Receives one packet from the socket. Waits for the packet, unless `flags` has MSG_DONTWAIT; in
  // that case returns kIncomplete if no packet has arrived. Returns kMessage if the packet
  // completed *message, kEnd if the peer has closed or shut down the connection. Throws
  // ProtocolError; descriptors received with a bad packet are closed.
  Status Receive(Message* message, int flags = 0);

 private:
  UniqueFd socket_;
  const Service* service_;
  MessageAssembler assembler_;
};

}  // namespace viaduct::ipc
