// Root's half of `viaduct path` (sys/privilege/halves.h), and the client that sends requests to it.
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
  // Arguments: interfaces, pairs, name, tap. Reply: name, created, and the descriptor of the
  // control socket.
  kTakeInterfaces = ipc::kFirstRequest,
  // Arguments: port, xdp, whole, tap, pid. Reply: ifindex, and the descriptor of a packet socket or
  // the members and descriptors that another kind of port needs.
  kOpenPort,
};

// Runs the service. It takes the interfaces of a path, records the path, opens packet sockets on
// the interfaces, and releases everything when the connection ends.
void KeepPath(UniqueFd connection, const sys::Identity& user);

// Decodes the request of a client to a keeper: a path's interfaces, pairs and name. Throws
// UsageError if the request is malformed.
PathInfo DecodePath(const nlohmann::json& request);

// The interfaces of a path, which a keeper in root's half has taken for this process.
class KeptPath final : public PathPorts {
 public:
  // Takes the interfaces of config.ports, with their offloads off, and the path's name. There must
  // be a steward (sys/privilege/halves.h). Throws UsageError or EnvironmentError if an interface
  // cannot be taken; no interface is taken then. `note` receives, as text for a person, each choice
  // that was made.
  explicit KeptPath(
      const engine::Config& config, PortKind kind = PortKind::kAfPacket,
      std::function<void(const std::string&)> note = [](const std::string&) {});

  const std::string& name() const override { return name_; }
  const std::string& created() const override { return created_; }
  UniqueFd TakeListener() override { return std::move(listener_); }
  // Opens the port in promiscuous mode, also on a new interface of the same name.
  std::unique_ptr<io::AnyPort> OpenPort(size_t port) override;
  bool CanComeBack() const override { return true; }
  int ifindex(size_t port) const override { return ifindices_[port]; }
  int fd() const override { return root_.fd(); }

 private:
  // The ways in which the keeper opens an interface: with a packet socket; with a packet socket and
  // all offloads off that keep a part of a frame outside its bytes; with AF_XDP; as a TAP device.
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
