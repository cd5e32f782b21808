// Root's half of `viaduct path`, and its client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "path/engine/config.h"
#include "path/live/path_ports.h"
#include "path/live/path_record.h"
#include "port/xdp/xdp_port.h"
#include "sys/ipc/caller.h"
#include "sys/ipc/message.h"
#include "sys/process/invoking_user.h"

namespace viaduct::path {

inline constexpr ipc::Service kPathService = {"path", 1};
enum class PathRequest : uint16_t {
  kTakeInterfaces = ipc::kFirstRequest,  // interfaces, pairs, name, tap; reply: name, created; the
                                         // control socket
  kOpenPort,  // port, xdp, whole, tap, pid; reply: ifindex; the socket, or what its kind needs
};

// The service. It takes the interfaces of a path, records the path, opens packet sockets on them,
// and releases everything when the connection ends.
void KeepPath(UniqueFd connection, const sys::Identity& user);

// Decodes the request of a client to a keeper: a path's interfaces, pairs and name. Throws
// UsageError if it is malformed.
PathInfo DecodePath(const nlohmann::json& request);

// The interfaces of a path, as root's half keeps them for this process.
class KeptPath final : public PathPorts {
 public:
  // Takes the interfaces of config.ports, with their offloads off, and the path's name. There must
  // be a steward (sys/privilege/halves.h). Throws UsageError or EnvironmentError; then nothing is
  // taken. `note` receives, as text for a person, each choice that was made.
  explicit KeptPath(
      const engine::Config& config, PortKind kind = PortKind::kAfPacket,
      std::function<void(const std::string&)> note = [](const std::string&) {});

  const std::string& name() const override { return name_; }
  const std::string& created() const override { return created_; }
  UniqueFd TakeListener() override { return std::move(listener_); }
  // Opens the port in promiscuous mode, also on an interface of that name that has appeared since.
  std::unique_ptr<io::AnyPort> OpenPort(size_t port) override;
  bool CanComeBack() const override { return true; }
  int ifindex(size_t port) const override { return ifindices_[port]; }
  int fd() const override { return root_.fd(); }

 private:
  // Ways in which the keeper opens an interface: a packet socket; a packet socket with all offloads
  // off that keep a part of a frame outside its bytes; AF_XDP; a TAP device.
  enum class Way { kPacket, kWhole, kXdp, kTap };
  ipc::Message AskToOpen(size_t port, Way way);
  UniqueFd OpenWhole(size_t port);
  std::unique_ptr<io::AnyPort> OpenRing(size_t port);
  std::unique_ptr<io::XdpPort> OpenXdp(size_t port);
  std::unique_ptr<io::AnyPort> OpenDpdk(size_t port);
  std::unique_ptr<io::AnyPort> OpenNetmap(size_t port);
  std::unique_ptr<io::AnyPort> OpenTap(size_t port);

  const PortKind kind_;
  const std::function<void(const std::string&)> note_;
  ipc::Caller root_;
  std::string name_, created_;
  UniqueFd listener_;
  const std::vector<std::string> interfaces_;
  std::vector<int> ifindices_;
};

}  // namespace viaduct::path
