// The client's side of the control connection: claims a node, keeps it, and claims it again after
// every loss of the connection.
#pragma once

#include <cstdint>
#include <functional>
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

struct sockaddr_storage;

namespace viaduct::claim {

// "HUB", "HUB:PORT", "[2001:db8::1]:PORT", or an IPv6 address alone. Throws UsageError.
struct HubName {
  std::string host;
  uint16_t port = kDefaultPort;

  static HubName Parse(const std::string& text);
  std::string ToString() const;
};

struct ClientOptions {
  Key key;
  HubName hub;
  std::optional<std::string> node;     // absent: any
  std::optional<TunnelKey> wireguard;  // this client's, for a hub that encrypts
  // The node is this client's: at first, and after each time that the connection was lost. `hub` is
  // where the control connection leads, and so the hub's VXLAN packets come from.
  std::function<void(const Offer& offer, const wire::IpAddress& hub)> claimed;
  // The connection cannot be made or was lost, or the hub refuses; another attempt follows unless
  // Stop() is called. `is_answer`: the hub, or its lack of the key, says so.
  std::function<void(const std::string& why, bool is_answer)> trouble;

  Duration beat = Duration::Seconds(1);
  Duration silence = Duration::Seconds(5);  // after which the connection is lost
  Duration timeout = Duration::Seconds(5);  // until the hub has answered
  Duration pause = Duration::Seconds(1);    // between attempts
};

class ControlClient {
 public:
  // Looks the hub's addresses up, and tries them in turn. The callbacks come from the loop, which
  // must outlive this. Throws UsageError where the hub's name has no address.
  ControlClient(sys::EventLoop& loop, ClientOptions options);
  // Tells the hub that the node is free, without waiting for it.
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  void Stop() { has_stopped_ = true; }  // nothing further is done
  // What the destructor tells the hub: this machine could not become the node.
  void NoteFailure() { has_failed_ = true; }
  bool HasNode() const { return has_node_; }

 private:
  struct Address;

  void After(Duration time, void (ControlClient::*action)());
  void Connect();
  void FinishConnecting();
  void Watch();
  void Serve();
  void Hear(const std::string& line);
  void Fail(const std::string& why, bool is_answer);
  void Tick();
  void SayAlive();

  sys::EventLoop& loop_;
  ClientOptions options_;
  const TlsContext context_;
  std::vector<Address> addresses_;
  size_t next_ = 0;      // of them, to be tried
  UniqueFd connecting_;  // a socket whose connection is being made
  std::unique_ptr<Channel> channel_;
  bool has_asked_ = false, has_node_ = false, has_stopped_ = false, has_failed_ = false;
  std::string session_;
  Instant since_, heard_;
  std::shared_ptr<bool> alive_;
};

}  // namespace viaduct::claim
