#include "remote/claim/control_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <variant>

#include "base/clock.h"

namespace viaduct::claim {

struct ControlClient::Address {
  sockaddr_storage socket{};
  socklen_t length = 0;
};

HubName HubName::Parse(const std::string& text) {
  HubName hub;
  const auto fail = [&] {
    throw UsageError(
        fmt::format("'{}' is not a hub; expected HUB, HUB:PORT or [ADDRESS]:PORT", text));
  };
  std::string port;
  const size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string::npos) fail();
    hub.host = text.substr(1, end - 1);
    if (end + 1 < text.size() && text[end + 1] != ':') fail();
    if (end + 1 < text.size()) port = text.substr(end + 2);
    if (end + 2 == text.size()) fail();
  } else if (colon != std::string::npos && text.find(':') == colon) {
    hub.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) fail();
  } else {
    hub.host = text;
  }
  if (hub.host.empty()) fail();
  if (port.empty()) return hub;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), hub.port);
  if (error != std::errc() || end != port.data() + port.size() || hub.port == 0) fail();
  return hub;
}

std::string HubName::ToString() const {
  const bool has_colon = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", has_colon ? "[" : "", host, has_colon ? "]" : "", port);
}

ControlClient::ControlClient(sys::EventLoop& loop, ClientOptions options)
    : loop_(loop),
      options_(std::move(options)),
      context_(TlsContext::Role::kClient, options_.key),
      alive_(std::make_shared<bool>(true)) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(options_.hub.host.c_str(),
                                std::to_string(options_.hub.port).c_str(), &hints, &found);
  if (error != 0) {
    throw UsageError(fmt::format("hub {}: {}", options_.hub.host, gai_strerror(error)));
  }
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address address;
    address.length = each->ai_addrlen;
    std::memcpy(&address.socket, each->ai_addr, each->ai_addrlen);
    addresses_.push_back(address);
  }
  freeaddrinfo(found);
  After(Duration(), &ControlClient::Connect);
  After(options_.beat, &ControlClient::Tick);
}

ControlClient::~ControlClient() {
  *alive_ = false;
  if (connecting_) loop_.Forget(connecting_.get());
  if (!channel_) return;
  loop_.Forget(channel_->fd());
  try {
    if (has_node_) channel_->Send(Encode(Leave{has_failed_}));
  } catch (const Error&) {  // the hub detects the end of the connection
  }
  channel_->End();
}

void ControlClient::After(Duration time, void (ControlClient::*action)()) {
  loop_.At(MonotonicClock::Now() + time, [this, action, alive = alive_] {
    if (*alive && !has_stopped_) (this->*action)();
  });
}

void ControlClient::Connect() {
  since_ = MonotonicClock::Now();
  const Address& address = addresses_[next_];
  connecting_ =
      UniqueFd(socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connecting_) return Fail(std::strerror(errno), false);
  const int result = connect(connecting_.get(), reinterpret_cast<const sockaddr*>(&address.socket),
                             address.length);
  if (result != 0 && errno != EINPROGRESS) return Fail(std::strerror(errno), false);
  loop_.Watch(
      connecting_.get(), [this] { FinishConnecting(); }, POLLOUT);
}

void ControlClient::FinishConnecting() {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(connecting_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return Fail(std::strerror(error), false);
  loop_.Forget(connecting_.get());
  PrepareSocket(connecting_.get());
  channel_ = std::make_unique<Channel>(std::move(connecting_), context_, kMaxOffer);
  has_asked_ = false;
  heard_ = MonotonicClock::Now();
  Watch();
}

void ControlClient::Watch() {
  loop_.Watch(
      channel_->fd(), [this] { Serve(); }, channel_->Events());
}

void ControlClient::Serve() {
  try {
    const std::vector<std::string> lines = channel_->Serve();
    if (channel_->IsOpen() && !has_asked_) {
      has_asked_ = true;
      channel_->Send(Encode(Request{options_.node, session_, options_.wireguard}));
    }
    for (const std::string& line : lines) {
      Hear(line);
      if (!channel_) return;
    }
    Watch();
  } catch (const TlsError& error) {
    Fail(error.what(), error.is_key());
  } catch (const MessageError& error) {
    Fail(error.what(), true);
  } catch (const ChannelEnded& error) {
    Fail(error.what(), false);
  }
}

void ControlClient::Hear(const std::string& line) {
  const FromHub message = ParseFromHub(line);
  heard_ = MonotonicClock::Now();
  if (const auto* refusal = std::get_if<Refusal>(&message)) return Fail(refusal->reason, true);
  const auto* offer = std::get_if<Offer>(&message);
  if (offer == nullptr) return;
  if (has_node_) throw MessageError("the hub offered a second node");
  has_node_ = true;
  session_ = offer->session;
  options_.node = offer->node;  // so that a hub that has been restarted gives the same node
  options_.claimed(*offer, PeerAddress(channel_->fd()));
  SayAlive();  // after this message the hub reserves the node for the session
}

// Ends the attempt or connection, and schedules another attempt. If further addresses of the hub
// are left, the next attempt follows at once. Otherwise reports the trouble, and the next attempt
// follows after a pause.
void ControlClient::Fail(const std::string& why, bool is_answer) {
  if (connecting_) loop_.Forget(connecting_.get());
  connecting_.reset();
  if (channel_) loop_.Forget(channel_->fd());
  channel_.reset();
  const bool was_connected = std::exchange(has_node_, false);
  if (!was_connected) next_ = (next_ + 1) % addresses_.size();
  const bool is_round_over = next_ == 0 || was_connected || is_answer;
  After(is_round_over ? options_.pause : Duration(), &ControlClient::Connect);
  if (is_round_over) options_.trouble(why, is_answer);
}

void ControlClient::Tick() {
  const Instant now = MonotonicClock::Now();
  const bool is_trying = connecting_ || (channel_ && !has_node_);
  if (has_node_ && now - heard_ > options_.silence) {
    Fail("no message from the hub arrives", false);
  } else if (is_trying && now - since_ > options_.timeout) {
    Fail("the hub does not answer", false);
  } else if (has_node_) {
    SayAlive();
  }
  After(options_.beat, &ControlClient::Tick);
}

void ControlClient::SayAlive() {
  try {
    channel_->Send(Encode(Alive{}));
    Watch();
  } catch (const Error& error) {
    Fail(error.what(), false);
  }
}

}  // namespace viaduct::claim
