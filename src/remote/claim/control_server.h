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
  wire::IpAddress client;     // the client's address, also the source of its VXLAN packets
  bool has_returned = false;  // the client had the node before
  std::optional<TunnelKey> wireguard = {};
};

struct ServerOptions {
  Key key;
  uint16_t port = kDefaultPort;  // TCP port; 0: the kernel chooses
  // The addresses to listen on; empty: all addresses, IPv4 and, if the machine has it, IPv6.
  std::vector<wire::IpAddress> addresses;
  // The nodes that may be claimed; a claim without a node's name gets the first free node.
  std::vector<std::string> nodes;
  // Called for each claim. Returns the offer for the client, except the session. Throws Error to
  // refuse the claim; the error's text is sent to the client.
  std::function<Offer(const Claim&)> claim;
  // Whether the client gets the node only after Confirm(), for a `claim` whose effect takes time.
  bool confirms = false;
  // Called when the client has left, or is silent: after the call frames from its address belong to
  // no client.
  std::function<void(const std::string& node)> release = [](const std::string&) {};

  Duration beat = Duration::Seconds(1);  // interval of each end's "alive" messages
  // Maximum silence of a peer. A peer that is silent for longer is treated as lost.
  Duration silence = Duration::Seconds(5);
  Duration reservation = Duration::Seconds(60);  // time within which a lost client may return
  Duration timeout = Duration::Seconds(5);       // maximum time from a connection to its claim
  // Maximum number of connections without a claim; beyond it the oldest connection is dropped.
  size_t max_unauthenticated = 256;
  size_t max_clients = 4096;
};

// Counters of a server: sums since its start, except `clients`.
struct ServerCounters {
  uint64_t clients = 0;   // clients that have a node now
  uint64_t claims = 0;    // claims that were granted
  uint64_t returns = 0;   // granted claims of a client that had the node before
  uint64_t releases = 0;  // releases of a node, for any reason
  uint64_t silent = 0;    // releases of a client that was silent for too long
  // The following members count refused connections and claims, by reason.
  uint64_t wrong_key = 0;
  uint64_t no_handshake = 0;  // connections without a correct TLS 1.3 handshake
  uint64_t too_slow = 0;      // connections without a claim within the timeout
  uint64_t too_many = 0;      // connections beyond a maximum
  uint64_t malformed = 0;     // malformed messages of peers that have the key
  uint64_t unknown_node = 0;
  uint64_t taken = 0;  // claims of a node that another client has, or that is reserved
  uint64_t none_free = 0;
  uint64_t refused_by_hub = 0;
  uint64_t given_back = 0;  // nodes whose client could not become the node
};

class ControlServer {
 public:
  // Starts to listen for connections. The loop must outlive this object. Throws SystemError.
  ControlServer(sys::EventLoop& loop, ServerOptions options);
  // Ends all connections; releases no node.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Sends the offer of the node to its client, when the effect of `claim` is complete. Does nothing
  // if no client waits for the offer.
  void Confirm(const std::string& node);

  uint16_t port() const { return port_; }
  const ServerCounters& counters() const { return counters_; }
  // Returns the address of each client; the key is the client's node.
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
  std::map<int, std::unique_ptr<Peer>> peers_;  // the key is the descriptor
  std::vector<Node> nodes_;
  std::map<std::string, size_t> node_by_name_;
  ServerCounters counters_;
  uint16_t port_;
  // Whether this object still exists. Actions of the event loop, which cannot be cancelled, read
  // this variable.
  std::shared_ptr<bool> alive_;
};

}  // namespace viaduct::claim
