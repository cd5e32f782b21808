// The sockets of a guest that its kernel serves, and the sockets that its agent does.
//
// The agent opens, binds and connects all sockets and accepts connections. A socket that its kernel
// can serve is handed to the kernel as soon as it is connected, with the data to be sent by then,
// or, if it needs no connection (UDP, raw IP), as soon as it is open; the agent keeps only its
// descriptor, and answers questions about options.
//
// The kernel carries out its operations before the agent's requests of the same instant. So
// operations that follow a request to the agent are held until that has been answered.
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

  // The service must outlive this object.
  ServedSockets(SocketService& service, ToAgent to_agent);

  // Handles a request about a socket; returns false if it must be sent to the agent as it is.
  bool Take(agent::Code code, uint32_t socket, uint32_t request, Parts parts, uint16_t flags);
  // Reads an event of the agent about a socket, before the socket's owner is notified of it.
  void Note(const agent::Operation& event);
  // Handles the report that the kernel no longer serves this socket. Throws agent::ProtocolError if
  // no request asked for that.
  void Released(uint32_t socket);
  // Converts an event of the kernel into one of the agent, whose payload is kept in `payload`;
  // returns nullopt for a part of a message that continues. Not for kReleased. Throws
  // agent::ProtocolError if the event is invalid.
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
    bool closing = false;    // closed after it was adopted
    uint64_t credit = 0;     // before adoption; for a listener, the credit of accepted sockets
    std::vector<Held> held;  // while it connects; connectionless: until `asked` is empty
    uint64_t begun = 0;      // bytes of a message whose end has not arrived
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
  // Stores a part of a message, or puts the stored parts in front of the last one. Returns whether
  // the message is whole.
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
