// Which sockets of a guest its kernel serves, and which its agent does.
//
// The agent opens, binds and connects all of them and accepts connections. One that its kernel can
// serve is handed to it as soon as it is connected, with what was to be sent by then, or, where
// none is needed (UDP, raw IP), as soon as it is open; the agent keeps only its descriptor, and
// answers questions about options.
//
// The kernel carries out what it is given before what the agent is asked at the same instant. So
// what follows a request to the agent is held until that has been answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
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
  // An event of the kernel's as one of the agent's, whose payload it keeps in `payload`; none for a
  // part of a message that goes on. Not for kReleased. Throws agent::ProtocolError if it makes no
  // sense.
  std::optional<agent::Operation> ToOperation(SocketEvent event, std::vector<std::byte>* payload);

 private:
  struct Held {
    agent::Code code;
    uint32_t request;
    uint16_t flags;
    std::vector<std::byte> payload;
  };
  struct Socket {
    bool connectionless = false;
    std::set<uint32_t> asked;  // connectionless: requests that the agent has yet to answer
    bool connecting = false;
    bool adopted = false;
    bool closing = false;    // since it was adopted
    uint64_t credit = 0;     // until it is adopted; of a listener: that of accepted sockets
    std::vector<Held> held;  // while it connects; connectionless: until the answers are there
    uint64_t begun = 0;      // bytes of a message whose end has not come
    std::vector<std::byte> begun_bytes;  // empty: all of them zeros
    uint32_t close_request = 0;
    uint16_t close_flags = 0;
  };

  bool TakeUnconnected(Socket& socket, agent::Code code, uint32_t number, uint32_t request,
                       Parts parts, uint16_t flags);
  bool TakeAdopted(Socket& socket, agent::Code code, uint32_t number, uint32_t request, Parts parts,
                   uint16_t flags);
  bool TakeConnectionless(Socket& socket, agent::Code code, uint32_t number, uint32_t request,
                          Parts parts, uint16_t flags);
  bool Open(uint32_t number, uint32_t request, Parts parts);
  // Keeps a part of a message, or puts those before it in front of its last one. Returns whether it
  // is whole.
  bool Join(SocketEvent& event);
  void NoteAnswer(Socket& socket, const agent::Operation& event);
  void Send(uint32_t number, Parts parts, uint16_t flags);
  void Adopt(Socket& socket, uint32_t number, uint32_t descriptor);
  void PutPieces(SocketOperation operation, uint64_t value);
  void PutCredit(uint32_t number, uint64_t bytes);

  SocketService& service_;
  ToAgent to_agent_;
  std::map<uint32_t, Socket> sockets_;
};

}  // namespace viaduct::guest
