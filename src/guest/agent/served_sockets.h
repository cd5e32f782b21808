// The division of a guest's sockets between the guest's kernel, which serves their data, and the
// guest's agent.
//
// The agent opens, binds and connects all sockets and accepts connections. A socket that the
// guest's kernel can serve is passed to the kernel as soon as it is connected, with the data that
// was sent before, or, if it needs no connection (UDP, raw IP), as soon as it is open. The agent
// then keeps only the descriptor of the socket, and answers questions about options.
//
// The kernel carries out its operations before the agent's requests of the same instant. So
// operations that follow a request to the agent are held until the agent has answered the request.
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
  // The function that sends a request about a socket to the agent.
  using ToAgent = std::function<void(agent::Code code, uint32_t socket, uint32_t request,
                                     std::span<const std::byte> payload, uint16_t flags)>;

  // Stores both arguments. The service must outlive this object.
  ServedSockets(SocketService& service, ToAgent to_agent);

  // Handles a request about a socket; returns false if the caller must send the request to the
  // agent unchanged.
  bool Take(agent::Code code, uint32_t socket, uint32_t request, Parts parts, uint16_t flags);
  // Handles an event of the agent about a socket, before the application is notified of the event.
  void Note(const agent::Operation& event);
  // Handles the report that the kernel no longer serves the socket. Throws agent::ProtocolError if
  // no request to close the socket preceded.
  void Released(uint32_t socket);
  // Converts an event of the kernel into an event of the agent, whose payload is stored in
  // `payload`. Returns nullopt for a part of a message that is not the last part. Must not be
  // called with kReleased. Throws agent::ProtocolError if the event is invalid.
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
    // The requests about a connectionless socket that the agent has not answered yet.
    std::set<uint32_t> asked;
    bool connecting = false;
    bool adopted = false;
    bool closing = false;  // the application closed the socket after adoption
    // The bytes that may be received, until adoption; for a listener, the credit of each accepted
    // socket.
    uint64_t credit = 0;
    // Requests held while the socket connects or, for a connectionless socket, until `asked` is
    // empty.
    std::vector<Held> held;
    uint64_t begun = 0;  // the number of bytes of a message whose end has not arrived
    // The received bytes of the message; empty if all of them are zeros.
    std::vector<std::byte> begun_bytes;
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
  // Stores a part of a message; puts the stored parts in front of the last part in `event`. Returns
  // whether the message is complete.
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
