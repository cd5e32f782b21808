// The ports between which a path is emulated.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::path {

// Ways in which a path gets the frames of its interfaces.
enum class PortKind {
  kAfPacket,  // io::RingPort
  kAfXdp,     // io::XdpPort, or an error
  kDpdk,      // dpdk::OpenPort(), or an error
  kNetmap,    // netmap::OpenPort(), or an error
  kTap,       // user side of TAP devices, created if missing: io::TunPort
  kAuto,      // io::XdpPort where the driver has zero-copy, else io::RingPort
};

// The ports of one path, which a process of root's half keeps for this one until destruction; and
// how the path is known on this machine. For use by one thread.
class PathPorts {
 public:
  virtual ~PathPorts() = default;

  virtual const std::string& name() const = 0;
  virtual const std::string& created() const = 0;  // UTC, ISO 8601
  virtual UniqueFd TakeListener() = 0;             // the control socket
  // Opens one of engine::Config::ports. Throws Error.
  virtual std::unique_ptr<io::AnyPort> OpenPort(size_t port) = 0;
  // Returns whether the ports are interfaces of this namespace, which may be deleted and created
  // again: then they can be opened again.
  virtual bool CanComeBack() const = 0;
  virtual int ifindex(size_t port) const = 0;  // that of the interface opened last for the port
  virtual int fd() const = 0;                  // readable when root's half has exited
};

}  // namespace viaduct::path
