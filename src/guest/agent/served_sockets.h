// Which sockets of a guest its kernel serves, and which its agent does.
//
// The agent opens, binds and connects all of them and accepts connections. One that its kernel can
// serve is handed to it as soon as it is connected, with what was to be sent by then; the agent
// keeps only its descriptor, and answers questions about options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

#include "guest/agent/agent_protocol.h"
#include "guest/time/socket_service.h"

namespace viaduct::guest {

class ServedSockets {
 public:
  using Parts = std::initializer_list<std::span<const std::byte>>;
  // Sends a request about a socket to the agent.
  using ToAgent = std::function<void(agent::Code code, uint32_t socket, uint32_t request,
                                     std::span<const std::byte> payload, uint16_t flags)>;

  // The service must outlive it.
  ServedSockets(SocketService& service, ToAgent to_agent);

  // Deals with a request about a socket; false: it is for the agent, as it is.
  bool Take(agent::Code code, uint32_t socket, uint32_t request, Parts parts, uint16_t flags);
  // Reads an event of the agent about a socket, before its owner hears of it.
  void Note(const agent::Operation& event);
  // The kernel serves this socket no more. Throws agent::ProtocolError if nobody asked for that.
  void Released(uint32_t socket);

 private:
  struct Held {
    agent::Code code;
    uint32_t request;
    uint16_t flags;
    std::vector<std::byte> payload;
  };
  struct Socket {
    bool connecting = false;
    bool adopted = false;
    bool closing = false;    // since it was adopted
    uint64_t credit = 0;     // until it is adopted; of a listener: that of accepted sockets
    std::vector<Held> held;  // while it connects
    uint32_t close_request = 0;
    uint16_t close_flags = 0;
  };

  bool TakeUnconnected(Socket& socket, agent::Code code, uint32_t number, uint32_t request,
                       Parts parts, uint16_t flags);
  bool TakeAdopted(Socket& socket, agent::Code code, uint32_t number, uint32_t request, Parts parts,
                   uint16_t flags);
  bool Open(uint32_t number, uint32_t request, Parts parts);
  void Adopt(Socket& socket, uint32_t number, uint32_t descriptor);
  void PutPieces(SocketOperation operation, uint64_t value);
  void PutCredit(uint32_t number, uint64_t bytes);

  SocketService& service_;
  ToAgent to_agent_;
  std::map<uint32_t, Socket> sockets_;
};

}  // namespace viaduct::guest
