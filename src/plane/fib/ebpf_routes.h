// The data plane that forwards by an eBPF program in front of the kernel's stack.
//
// The program looks up routes and neighbours in the kernel's own tables (bpf_fib_lookup()), so the
// routes are passed to the kernel (KernelRoutes). A separate table would have to copy not only the
// protocol's routes but also other state of the kernel, without ever contradicting it: connected
// networks, addresses, resolved neighbours, MTUs, dead interfaces, the choice among equal-cost next
// hops. Because both use the same tables, the program cannot decide differently from the kernel,
// which handles the packets that the program leaves to it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "plane/bpf/forward_program.h"
#include "plane/fib/data_plane.h"
#include "plane/fib/kernel_routes.h"

namespace viaduct::fib {

// Installs routes in the kernel and forwards by the eBPF program, which is active as long as this
// object exists. Throws EnvironmentError if the build or the kernel cannot run the program.
class EbpfRoutes final : public RouteSink {
 public:
  explicit EbpfRoutes(const NodePlace& place);

  // Installs missing routes again, and passes the node's present addresses to the program.
  size_t Reinstall() override;
  const RouteTable& Routes() const override { return kernel_.Routes(); }
  std::optional<Passage> LookUp(const wire::IpAddress& destination) override {
    return kernel_.LookUp(destination);
  }
  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;

 private:
  void DoApply(const RouteChanges& changes) override { kernel_.Apply(changes); }
  void TellAddresses();

  KernelRoutes kernel_;
  sys::Netlink session_;
  std::map<std::string, int> ifindexes_;          // the interfaces that have the program
  std::optional<bpf::ForwardProgram> forwarder_;  // empty where the program could forward nothing
};

}  // namespace viaduct::fib
