// The data plane that forwards in a process of its own (src/forward), by a table in shared memory.
//
// The routes go to the node's kernel as well, which sends the node's own packets by them but does
// not forward. What the kernel knows besides them (the node's own addresses, connected networks,
// routes of others) is read from it, so both decide alike.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fib/data_plane.h"
#include "fib/kernel_routes.h"
#include "forward/entry.h"
#include "forward/equipment.h"
#include "forward/shared_memory.h"
#include "forward/table_writer.h"
#include "sys/network/link.h"

namespace viaduct::fib {

// The one writer of a node's table.
class UserspaceRoutes final : public RouteSink {
 public:
  // Throws Error if there is no shared memory.
  explicit UserspaceRoutes(const NodePlace& place);

  // Also reads anew what the kernel knows.
  size_t Reinstall() override;
  size_t Size() const override { return kernel_.Size(); }
  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::optional<forward::SharedWith> Shared() const override;

 private:
  // By metric, as the kernel prefers them.
  struct Candidate {
    int64_t metric = 0;
    forward::Entry entry;
  };
  struct Interface {
    uint32_t ifindex = 0;
    bool is_up = false;
  };
  using Entries = std::map<wire::IpPrefix, forward::Entry>;

  void DoApply(const RouteChanges& changes) override;
  void ReadKernel();
  Interface Find(const std::string& name);
  forward::Entry EntryOf(const Route& route);
  bool Forwards(wire::Family family) const {
    return family == wire::Family::kIpv4 ? forwards_ipv4_ : forwards_ipv6_;
  }
  forward::Entry BestOf(const wire::IpPrefix& destination);
  // Returns false if the table is full.
  bool Write(const wire::IpPrefix& destination);
  void WriteAll();

  KernelRoutes kernel_;
  sys::Netlink session_;
  std::vector<std::string> interfaces_;
  bool forwards_ipv4_, forwards_ipv6_;
  forward::SharedMemory table_memory_, counters_;
  forward::TableWriter table_;
  RouteTable accepted_;
  std::map<wire::IpPrefix, Candidate> of_kernel_;
  std::map<std::string, Interface> known_;
  Entries written_;
};

}  // namespace viaduct::fib
