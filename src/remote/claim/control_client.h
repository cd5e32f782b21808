// The client's side of the control connection: claims a node, keeps the claim alive, and claims the
// node again after every loss of the connection.
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

// The name of a hub: "HUB", "HUB:PORT", "[2001:db8::1]:PORT", or an IPv6 address without a port.
// Parse() throws UsageError.
struct HubName {
  std::string host;
  uint16_t port = kDefaultPort;

  static HubName Parse(const std::string& text);
  std::string ToString() const;
};

struct ClientOptions {
  Key key;
  HubName hub;
  std::optional<std::string> node;     // absent: any node
  std::optional<TunnelKey> wireguard;  // this client's key, for a hub that encrypts
  // Called when the client gets the node: the first time, and each time after the connection was
  // lost. `hub`: the control connection's remote address, and so the source of the hub's VXLAN
  // packets.
  std::function<void(const Offer& offer, const wire::IpAddress& hub)> claimed;
  // Called when the connection cannot be made or was lost, or the hub refuses; another attempt
  // follows unless Stop() is called. `is_answer`: whether the hub has answered with a refusal, or
  // does not have the key.
  std::function<void(const std::string& why, bool is_answer)> trouble;

  Duration beat = Duration::Seconds(1);
  Duration silence = Duration::Seconds(5);  // maximum silence of the hub
  Duration timeout = Duration::Seconds(5);  // maximum time until the hub's answer
  Duration pause = Duration::Seconds(1);    // between two attempts to connect
};

class ControlClient {
 public:
  // Resolves the hub's addresses, and tries one after the other. The loop calls the callbacks, and
  // must outlive this object. Throws UsageError if the hub's name has no address.
  ControlClient(sys::EventLoop& loop, ClientOptions options);
  // Notifies the hub that the node is free, without waiting for an answer.
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  void Stop() { has_stopped_ = true; }  // ends all further attempts and callbacks
  // Makes the destructor report to the hub that this machine could not become the node.
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
  size_t next_ = 0;      // index in addresses_ of the next address to try
  UniqueFd connecting_;  // a socket that is being connected
  std::unique_ptr<Channel> channel_;
  bool has_asked_ = false, has_node_ = false, has_stopped_ = false, has_failed_ = false;
  std::string session_;
  Instant since_, heard_;
  std::shared_ptr<bool> alive_;
};

}  // namespace viaduct::claim
