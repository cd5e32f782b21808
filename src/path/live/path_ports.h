// The ports between which a path is emulated.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::path {

// The kinds of ports with which a path sends and receives the frames of its interfaces.
enum class PortKind {
  kAfPacket,  // io::RingPort
  kAfXdp,     // io::XdpPort; an error if not available
  kDpdk,      // dpdk::OpenPort(); an error if not available
  kNetmap,    // netmap::OpenPort(); an error if not available
  kTap,       // user side of TAP devices, created if missing: io::TunPort
  kAuto,      // io::XdpPort if the driver has zero-copy, else io::RingPort
};

// The ports of one path, and the path's name and creation time. A process of root's half keeps the
// ports for this process until this object is destroyed. For use by one thread.
class PathPorts {
 public:
  virtual ~PathPorts() = default;

  virtual const std::string& name() const = 0;
  virtual const std::string& created() const = 0;  // time of creation, UTC, ISO 8601
  virtual UniqueFd TakeListener() = 0;             // returns the control socket
  // Opens one of engine::Config::ports. Throws Error if the port cannot be opened.
  virtual std::unique_ptr<io::AnyPort> OpenPort(size_t port) = 0;
  // Returns whether the ports are interfaces of this namespace. Such an interface may be deleted
  // and created again, and its port can then be opened again.
  virtual bool CanComeBack() const = 0;
  virtual int ifindex(size_t port) const = 0;  // ifindex of the interface opened last for the port
  virtual int fd() const = 0;                  // readable when root's half has exited
};

}  // namespace viaduct::path
