// The hub's side of the control connection: a client that shows the key may claim a node, one node
// per client and one client per node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/wire/address.h"
#include "remote/claim/channel.h"
#include "remote/claim/key.h"
#include "remote/claim/message.h"
#include "sys/event_loop.h"

namespace viaduct::claim {

// The claim of a client that is about to get a node.
struct Claim {
  std::string node;
  wire::IpAddress client;     // the source of its VXLAN packets, too
  bool has_returned = false;  // the client had the node before
  std::optional<TunnelKey> wireguard = {};
};

struct ServerOptions {
  Key key;
  uint16_t port = kDefaultPort;  // TCP; 0: the kernel chooses
  // The addresses to listen on; empty: all addresses, IPv4 and, if the machine has it, IPv6.
  std::vector<wire::IpAddress> addresses;
  std::vector<std::string> nodes;  // nodes that may be claimed; "any" takes the first that is free
  // Returns what the client gets, except its session. Throws Error to refuse; its text is sent to
  // the client.
  std::function<Offer(const Claim&)> claim;
  // The client does not get the node until Confirm(): for a `claim` whose effect takes time.
  bool confirms = false;
  // Called when the client has left, or is silent: frames from its address belong to no client from
  // then on.
  std::function<void(const std::string& node)> release = [](const std::string&) {};

  Duration beat = Duration::Seconds(1);          // interval of each end's "alive" messages
  Duration silence = Duration::Seconds(5);       // maximum silence of a peer; then it is gone
  Duration reservation = Duration::Seconds(60);  // during which a client that is gone may return
  Duration timeout = Duration::Seconds(5);       // from a connection to its claim
  size_t max_unauthenticated = 256;  // connections without a claim; then the oldest is dropped
  size_t max_clients = 4096;
};

// Sums since the start, except `clients`.
struct ServerCounters {
  uint64_t clients = 0;   // clients that have a node now
  uint64_t claims = 0;    // claims that were granted
  uint64_t returns = 0;   // granted claims of a client that had the node before
  uint64_t releases = 0;  // releases of a node, for any reason
  uint64_t silent = 0;    // releases of a client that was silent for too long
  // Refused connections and claims.
  uint64_t wrong_key = 0;
  uint64_t no_handshake = 0;  // connections without a correct TLS 1.3 handshake
  uint64_t too_slow = 0;      // no claim within the timeout
  uint64_t too_many = 0;      // connections
  uint64_t malformed = 0;     // messages of a client that has the key
  uint64_t unknown_node = 0;
  uint64_t taken = 0;  // the node is another client's, or reserved for one
  uint64_t none_free = 0;
  uint64_t refused_by_hub = 0;
  uint64_t given_back = 0;  // nodes whose client could not become the node
};

class ControlServer {
 public:
  // Listens at once. The loop must outlive this object. Throws SystemError.
  ControlServer(sys::EventLoop& loop, ServerOptions options);
  // Ends all connections; releases no node.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Sends the client its node, as the effect of `claim` is complete. Does nothing if no client
  // waits for it.
  void Confirm(const std::string& node);

  uint16_t port() const { return port_; }
  const ServerCounters& counters() const { return counters_; }
  // Returns the node and address of each client.
  std::map<std::string, wire::IpAddress> Clients() const;

 private:
  struct Peer;
  struct Node;

  void Listen(const wire::IpAddress& address);
  void Accept(int listener);
  void Welcome(UniqueFd socket);
  void MakeRoom(const wire::IpAddress& newcomer);
  void Serve(int fd);
  void Read(Peer& peer);
  bool Hear(Peer& peer, const std::string& line);
  bool Grant(Peer& peer, const Request& request);
  void SendOffer(Peer& peer);
  Node* Choose(const Request& request, std::string* refusal);
  Node* ChooseNamed(const std::string& name, std::string* refusal);
  void Refuse(Peer& peer, const std::string& reason);
  void Release(Node& node, bool may_return);
  void Drop(int fd, bool may_return);
  void Watch(Peer& peer);
  void Tick();
  size_t Unauthenticated() const;

  sys::EventLoop& loop_;
  const ServerOptions options_;
  const TlsContext context_;
  std::vector<UniqueFd> listeners_;
  std::map<int, std::unique_ptr<Peer>> peers_;  // key: the descriptor
  std::vector<Node> nodes_;
  std::map<std::string, size_t> node_by_name_;
  ServerCounters counters_;
  uint16_t port_;
  std::shared_ptr<bool> alive_;  // for actions of the loop, which cannot be cancelled
};

}  // namespace viaduct::claim
