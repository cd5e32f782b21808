// The sockets of the simulator's applications on the nodes of a guest or of a lab.
//
// Data that an application sends and the kernel does not accept at once is queued in Sockets.
// Arriving data is read while the application has credit, so that a slow reader closes TCP's window
// as on a real host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "guest/agent/agent_protocol.h"
#include "guest/agent/socket_address.h"
#include "guest/service/agent.h"

namespace viaduct::guest::service {

using agent::SocketAddress;

class Sockets {
 public:
  // A function that opens the non-blocking socket of a request on the request's node; throws Error.
  // The socket stays in the network namespace in which it was opened.
  using Opener = std::function<UniqueFd(const agent::OpenSocket&)>;

  // Registers the handlers of the requests about sockets. The agent must outlive this object.
  Sockets(Agent& agent, Opener open);
  ~Sockets();

  size_t size() const { return sockets_.size(); }
  // Returns the descriptor of the socket with the number `number`, for reading statistics
  // (TCP_INFO); -1 if there is no such socket.
  int Descriptor(uint32_t number) const;

 private:
  // A send request whose bytes the kernel has not accepted completely.
  struct Pending {
    std::optional<SocketAddress> to;
    std::vector<std::byte> bytes;  // empty: `length` zero bytes
    uint64_t length = 0;
    uint64_t sent = 0;
  };
  struct Socket;

  void Open(const agent::Operation& operation);
  void Bind(const agent::Operation& operation);
  void Listen(const agent::Operation& operation);
  void Connect(const agent::Operation& operation);
  void Send(const agent::Operation& operation);
  void Credit(const agent::Operation& operation);
  void Shutdown(const agent::Operation& operation);
  void Close(const agent::Operation& operation);
  void SetOption(const agent::Operation& operation);
  void GetOption(const agent::Operation& operation);

  Socket& Get(const agent::Operation& operation);
  Socket& Adopt(uint32_t number, UniqueFd fd, bool stream);
  // Sets the watched events of a socket to exactly the events that can be handled at present.
  void UpdateWatch(Socket& socket);
  void WatchRoom(Socket& socket);
  void OnEvents(uint32_t number, uint32_t events);
  void FinishConnect(Socket& socket);
  void Accept(Socket& listener);
  void Receive(Socket& socket);
  void ReportBroken(Socket& socket, int error_number);
  // Calls sendto() once for a pending request; returns false if the kernel accepts no more bytes at
  // present.
  bool SendOnce(Socket& socket, Pending& pending);
  void SendPending(Socket& socket);
  void AfterPending(Socket& socket);
  void AskForEnd(const Socket& socket);
  void TakeNotification(Socket& socket, std::span<const std::byte> bytes);
  void PostBound(Socket& socket, uint32_t request);
  void PostConnected(Socket& socket);
  void PostReady(const Socket& socket, uint32_t request);
  void PostWritten();
  void Erase(Socket& socket);

  Agent& agent_;
  Opener open_;
  std::map<uint32_t, std::unique_ptr<Socket>> sockets_;
  std::vector<uint32_t> written_;  // the numbers of sockets for which kWritten is due
  uint32_t next_accepted_ = agent::kAccepted;
  std::vector<std::byte> buffer_;
};

}  // namespace viaduct::guest::service
