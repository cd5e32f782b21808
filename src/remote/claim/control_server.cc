#include "remote/claim/control_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/error.h"

namespace viaduct::claim {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptedAtOnce = 64;

std::string NewSession() {
  std::array<uint8_t, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw SystemError("getrandom", errno);
  }
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

socklen_t FillAddress(const wire::IpAddress& address, uint16_t port, sockaddr_storage* filled) {
  *filled = {};
  if (address.family == wire::Family::kIpv4) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(*filled);
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&ipv4.sin_addr, address.bytes.data(), 4);
    return sizeof ipv4;
  }
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(*filled);
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  std::memcpy(&ipv6.sin6_addr, address.bytes.data(), 16);
  return sizeof ipv6;
}

uint16_t PortOf(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  SystemCall("getsockname", getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length));
  return ntohs(own.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(own).sin_port
                                        : reinterpret_cast<sockaddr_in6&>(own).sin6_port);
}

// Returns the group of addresses whose connections are counted together: for IPv6 a /64, because
// one host has all addresses of a /64.
wire::IpAddress GroupOf(wire::IpAddress address) {
  if (address.family == wire::Family::kIpv6) std::fill_n(address.bytes.begin() + 8, 8, uint8_t{0});
  return address;
}

bool HasIpv6() {
  const UniqueFd probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return static_cast<bool>(probe);
}

}  // namespace

struct ControlServer::Peer {
  Peer(UniqueFd socket, const TlsContext& context, const wire::IpAddress& from, Instant now)
      : channel(std::move(socket), context, kMaxRequest), address(from), since(now), heard(now) {}

  Channel channel;
  const wire::IpAddress address;
  const Instant since;
  Instant heard;
  Node* node = nullptr;     // the node that the peer has claimed
  std::string offer;        // the offer, until it has been confirmed and sent
  bool knows_node = false;  // the peer has sent a message after the offer was sent
  bool is_refused = false;  // the peer is dropped after the refusal has been sent to it
};

struct ControlServer::Node {
  std::string name;
  Peer* peer = nullptr;
  std::string session;     // session of the client, or of a lost client that may return; "": none
  Instant reserved_until;  // end of the reservation for the session
};

ControlServer::ControlServer(sys::EventLoop& loop, ServerOptions options)
    : loop_(loop),
      options_(std::move(options)),
      context_(TlsContext::Role::kHub, options_.key),
      port_(options_.port),
      alive_(std::make_shared<bool>(true)) {
  nodes_.reserve(options_.nodes.size());
  for (const std::string& name : options_.nodes) {
    node_by_name_[name] = nodes_.size();
    nodes_.push_back({name, nullptr, "", {}});
  }
  for (const wire::IpAddress& address : options_.addresses) Listen(address);
  if (options_.addresses.empty()) {
    Listen(wire::IpAddress::Parse("0.0.0.0"));
    if (HasIpv6()) Listen(wire::IpAddress::Parse("::"));
  }
  Tick();
}

ControlServer::~ControlServer() {
  *alive_ = false;
  for (const UniqueFd& listener : listeners_) loop_.Forget(listener.get());
  for (const auto& [fd, peer] : peers_) {
    loop_.Forget(fd);
    peer->channel.End();
  }
}

std::map<std::string, wire::IpAddress> ControlServer::Clients() const {
  std::map<std::string, wire::IpAddress> clients;
  for (const Node& node : nodes_) {
    if (node.peer != nullptr) clients[node.name] = node.peer->address;
  }
  return clients;
}

void ControlServer::Listen(const wire::IpAddress& address) {
  const bool ipv4 = address.family == wire::Family::kIpv4;
  const std::string what = fmt::format("listen on {}{}{} port {}", ipv4 ? "" : "[",
                                       address.ToString(), ipv4 ? "" : "]", port_);
  UniqueFd listener(SystemCall(
      what, socket(ipv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!ipv4) setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  sockaddr_storage filled;
  const socklen_t length = FillAddress(address, port_, &filled);
  SystemCall(what, bind(listener.get(), reinterpret_cast<sockaddr*>(&filled), length));
  SystemCall(what, listen(listener.get(), kBacklog));
  port_ = PortOf(listener.get());
  const int fd = listener.get();
  loop_.Watch(fd, [this, fd] { Accept(fd); });
  listeners_.push_back(std::move(listener));
}

void ControlServer::Accept(int listener) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    UniqueFd socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      Welcome(std::move(socket));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    // If there are no free descriptors, no client is accepted until the next Tick(). Tick() makes
    // the loop watch the listener again.
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (is_short) loop_.Forget(listener);
    return;
  }
}

void ControlServer::Welcome(UniqueFd socket) {
  const int fd = socket.get();
  try {
    PrepareSocket(fd);
    const wire::IpAddress address = PeerAddress(fd);
    if (peers_.size() - Unauthenticated() >= options_.max_clients) {
      ++counters_.too_many;
      return;
    }
    MakeRoom(address);
    const auto entry = peers_.emplace(
        fd, std::make_unique<Peer>(std::move(socket), context_, address, MonotonicClock::Now()));
    Watch(*entry.first->second);
  } catch (const Error&) {
    ++counters_.no_handshake;  // the peer had closed the connection before it was accepted
  }
}

// If there are too many connections without a claim, drops one: the oldest in the group of
// addresses that has the most such connections. So a host that opens many connections and sends
// nothing hinders only itself.
void ControlServer::MakeRoom(const wire::IpAddress& newcomer) {
  if (Unauthenticated() < options_.max_unauthenticated) return;
  std::map<wire::IpAddress, int> count = {{GroupOf(newcomer), 1}};
  for (const auto& [fd, peer] : peers_) {
    count[GroupOf(peer->address)] += peer->node == nullptr ? 1 : 0;
  }
  const auto crowd = std::ranges::max_element(
      count, {}, [](const std::pair<const wire::IpAddress, int>& each) { return each.second; });
  const Peer* oldest = nullptr;
  for (const auto& [fd, peer] : peers_) {
    const bool is_in_crowd = crowd->second == 1 || GroupOf(peer->address) == crowd->first;
    if (peer->node != nullptr || !is_in_crowd) continue;
    if (oldest == nullptr || peer->since < oldest->since) oldest = peer.get();
  }
  if (oldest == nullptr) return;
  ++counters_.too_many;
  Drop(oldest->channel.fd(), false);
}

size_t ControlServer::Unauthenticated() const { return peers_.size() - counters_.clients; }

void ControlServer::Watch(Peer& peer) {
  const int fd = peer.channel.fd();
  loop_.Watch(
      fd, [this, fd] { Serve(fd); }, peer.channel.Events());
}

void ControlServer::Serve(int fd) {
  const auto found = peers_.find(fd);
  if (found == peers_.end()) return;
  Peer& peer = *found->second;
  try {
    Read(peer);
    if (!peer.is_refused || !peer.channel.IsFlushed()) return Watch(peer);
  } catch (const TlsError& error) {
    ++(peer.channel.IsOpen() ? counters_.malformed
       : error.is_key()      ? counters_.wrong_key
                             : counters_.no_handshake);
  } catch (const MessageError& error) {
    ++counters_.malformed;
    Refuse(peer, error.what());
  } catch (const ChannelEnded&) {
    counters_.no_handshake += peer.channel.IsOpen() ? 0 : 1;
  }
  Drop(fd, true);
}

void ControlServer::Read(Peer& peer) {
  for (const std::string& line : peer.channel.Serve()) {
    if (peer.is_refused || !Hear(peer, line)) return;
  }
}

// Handles a line of the peer. Returns whether further lines of the peer are read.
bool ControlServer::Hear(Peer& peer, const std::string& line) {
  const FromClient message = ParseFromClient(line);
  peer.heard = MonotonicClock::Now();
  if (const auto* request = std::get_if<Request>(&message)) return Grant(peer, *request);
  if (std::holds_alternative<Alive>(message)) {
    peer.knows_node = peer.node != nullptr && peer.offer.empty();
    return true;
  }
  if (peer.node != nullptr) {
    counters_.given_back += std::get<Leave>(message).has_failed ? 1 : 0;
    Release(*peer.node, false);
  }
  peer.is_refused = true;
  return false;
}

bool ControlServer::Grant(Peer& peer, const Request& request) {
  if (peer.node != nullptr)
    throw MessageError("the client claimed a second node on the same connection");
  std::string refusal;
  Node* const node = Choose(request, &refusal);
  if (node == nullptr) {
    Refuse(peer, refusal);
    return false;
  }
  const bool returns = !request.session.empty() && request.session == node->session;
  // Drops the former connection of a client that has made a new connection.
  if (node->peer != nullptr) Drop(node->peer->channel.fd(), true);
  Offer offer;
  try {
    offer = options_.claim({node->name, peer.address, returns, request.wireguard});
  } catch (const Error& error) {
    ++counters_.refused_by_hub;
    Refuse(peer, error.what());
    return false;
  }
  offer.node = node->name;
  offer.session = node->session = returns ? node->session : NewSession();
  node->peer = &peer;
  peer.node = node;
  ++counters_.clients;
  ++counters_.claims;
  counters_.returns += returns ? 1 : 0;
  const std::string line = Encode(offer);
  if (line.size() <= kMaxOffer) {
    peer.offer = line;
    if (!options_.confirms) SendOffer(peer);
    return true;
  }
  Release(*node, false);
  ++counters_.refused_by_hub;
  Refuse(peer, "the network has more names and routes than the hub can send to a client");
  return false;
}

void ControlServer::SendOffer(Peer& peer) {
  if (!peer.offer.empty()) peer.channel.Send(std::exchange(peer.offer, ""));
}

void ControlServer::Confirm(const std::string& node) {
  const auto found = node_by_name_.find(node);
  Peer* const peer = found == node_by_name_.end() ? nullptr : nodes_[found->second].peer;
  if (peer == nullptr) return;
  try {
    SendOffer(*peer);
    Watch(*peer);
  } catch (const Error&) {
    Drop(peer->channel.fd(), true);
  }
}

ControlServer::Node* ControlServer::Choose(const Request& request, std::string* refusal) {
  if (!request.session.empty()) {
    const auto own = std::ranges::find(nodes_, request.session, &Node::session);
    if (own != nodes_.end() && (!request.node || *request.node == own->name)) return &*own;
  }
  if (request.node) return ChooseNamed(*request.node, refusal);
  const Instant now = MonotonicClock::Now();
  const auto free = std::ranges::find_if(nodes_, [&](const Node& node) {
    return node.peer == nullptr && (node.session.empty() || node.reserved_until <= now);
  });
  if (free != nodes_.end()) return &*free;
  ++counters_.none_free;
  *refusal = nodes_.empty() ? "this hub has no nodes for clients (remote: true)"
                            : fmt::format("all {} nodes have a client", nodes_.size());
  return nullptr;
}

ControlServer::Node* ControlServer::ChooseNamed(const std::string& name, std::string* refusal) {
  const auto found = node_by_name_.find(name);
  if (found == node_by_name_.end()) {
    ++counters_.unknown_node;
    *refusal = fmt::format("there is no node {} for clients (remote: true)", name);
    return nullptr;
  }
  Node& node = nodes_[found->second];
  const Instant now = MonotonicClock::Now();
  if (node.peer == nullptr && (node.session.empty() || node.reserved_until <= now)) return &node;
  ++counters_.taken;
  *refusal = node.peer != nullptr
                 ? fmt::format("node {} has the client {}", name, node.peer->address.ToString())
                 : fmt::format(
                       "node {} is reserved for its client, which lost its connection, for another "
                       "{:.0f} s",
                       name, (node.reserved_until - now).ToSeconds() + 0.5);
  return nullptr;
}

void ControlServer::Refuse(Peer& peer, const std::string& reason) {
  peer.is_refused = true;
  try {
    peer.channel.Send(Encode(Refusal{reason}));
  } catch (const Error&) {  // the peer is gone, and needs no message
  }
}

void ControlServer::Release(Node& node, bool may_return) {
  const bool is_kept = may_return && node.peer->knows_node;
  node.peer->node = nullptr;
  node.peer = nullptr;
  if (!may_return) node.session.clear();
  node.reserved_until = MonotonicClock::Now() + (is_kept ? options_.reservation : Duration());
  --counters_.clients;
  ++counters_.releases;
  options_.release(node.name);
}

void ControlServer::Drop(int fd, bool may_return) {
  const auto found = peers_.find(fd);
  if (found == peers_.end()) return;
  loop_.Forget(fd);
  const std::unique_ptr<Peer> peer = std::move(found->second);
  peers_.erase(found);
  if (peer->node != nullptr) Release(*peer->node, may_return);
  peer->channel.End();
}

void ControlServer::Tick() {
  loop_.At(MonotonicClock::Now() + options_.beat, [this, alive = alive_] {
    if (*alive) Tick();
  });
  for (const UniqueFd& listener : listeners_) {
    loop_.Watch(listener.get(), [this, fd = listener.get()] { Accept(fd); });
  }
  const Instant now = MonotonicClock::Now();
  std::vector<int> gone;
  for (const auto& [fd, peer] : peers_) {
    const bool is_client = peer->node != nullptr;
    const bool is_silent = is_client && now - peer->heard > options_.silence;
    const bool is_slow = !is_client && now - peer->since > options_.timeout;
    counters_.silent += is_silent ? 1 : 0;
    counters_.too_slow += is_slow && !peer->is_refused ? 1 : 0;
    bool has_failed = false;
    try {
      if (is_client && !is_silent) peer->channel.Send(Encode(Alive{}));
    } catch (const Error&) {
      has_failed = true;
    }
    if (is_silent || is_slow || has_failed) {
      gone.push_back(fd);
    } else {
      Watch(*peer);
    }
  }
  for (const int fd : gone) Drop(fd, true);
}

}  // namespace viaduct::claim
