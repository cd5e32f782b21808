// The data plane that forwards by an eBPF program in front of the kernel's stack.
//
// The program looks up routes and neighbours in the kernel's own tables (bpf_fib_lookup()), so the
// sink of the routes is the kernel's (KernelRoutes). A separate table would have to repeat, and
// never contradict, the kernel's state besides the protocol's routes: connected networks,
// addresses, resolved neighbours, MTUs, dead interfaces, the choice among equal-cost next hops. So
// the program and the kernel, which handles the packets left to it, cannot decide differently.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "plane/bpf/forward_program.h"
#include "plane/fib/data_plane.h"
#include "plane/fib/kernel_routes.h"

namespace viaduct::fib {

// Installs routes in the kernel and forwards by the eBPF program, which is active as long as this
// object exists. Throws EnvironmentError where there is no eBPF.
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
