// The data plane that forwards in a process of its own (src/plane/forward), by a table in shared
// memory.
//
// The routes go to the node's kernel as well, which sends the node's own packets by them but does
// not forward. What the kernel knows besides them (the node's own addresses, connected networks,
// routes of others) is read from it, so both decide alike.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/poller.h"
#include "plane/fib/data_plane.h"
#include "plane/fib/kernel_copies.h"
#include "plane/fib/kernel_routes.h"
#include "plane/forward/entry.h"
#include "plane/forward/equipment.h"
#include "plane/forward/shared_memory.h"
#include "plane/forward/table_writer.h"
#include "sys/network/change_monitor.h"
#include "sys/network/link.h"
#include "sys/network/route_dump.h"

namespace viaduct::fib {

// The one writer of a node's table.
class UserspaceRoutes final : public RouteSink {
 public:
  // Room for several hundred thousand routes. Only what is written takes memory.
  static constexpr size_t kTableWords = (size_t{128} << 20) / sizeof(forward::Word);

  // `table_words`: the size of the table. Throws Error if there is no shared memory, or none of the
  // node's own routes fits.
  explicit UserspaceRoutes(const NodePlace& place, size_t table_words = kTableWords);

  // Also reads anew what the kernel knows. What the table has no room for counts as missing.
  size_t Reinstall() override;
  // Of what others change in the node's kernel.
  int EventFd() const override { return events_.fd(); }
  void TakeEvents() override;
  const RouteTable& Routes() const override { return kernel_.Routes(); }
  // By the forwarder's table, and for the node's own packets by its kernel's.
  std::optional<Passage> LookUp(const wire::IpAddress& destination) override;
  void SetUpcallDevice(int ifindex) override;
  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::map<std::string, uint64_t> Drops() const override;
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
  forward::Entry EntryOfKernel(const sys::DumpedRoute& route) const;
  Interface Find(const std::string& name);
  forward::Entry EntryOf(const Route& route);
  bool Forwards(wire::Family family) const {
    return family == wire::Family::kIpv4 ? forwards_ipv4_ : forwards_ipv6_;
  }
  // Whether a route of the preferred table decides for this destination, so that the main table's
  // route, or a preferred one to a larger network, is left out.
  bool IsHidden(const wire::IpPrefix& destination);
  // The protocol's, if its metric is less than this.
  forward::Entry OwnOf(const wire::IpPrefix& destination, Table table, int64_t below_metric);
  void FindPreferred();
  forward::Entry BestOf(const wire::IpPrefix& destination);
  // Returns false if the table is full: it has then what it had before, and the destination is
  // among those left out.
  bool Write(const wire::IpPrefix& destination);
  void WriteAll();  // within a version
  void FollowKernel();
  void ReleaseCopies();
  // Without room for the route, everything stays as it was, and `undo` gets what restores the
  // kernel, so that both decide alike.
  void Accept(const Route& route, RouteChanges* undo);
  std::vector<RefusedRoute> ApplyToKernel(const RouteChanges& changes);

  KernelRoutes kernel_;
  sys::Netlink session_;
  sys::ChangeMonitor others_;  // of what ReadKernel() reads
  KernelCopies copies_;
  Poller events_;  // of both
  std::vector<std::string> interfaces_;
  std::optional<int> upcall_device_;
  bool forwards_ipv4_, forwards_ipv6_;
  forward::SharedMemory table_memory_, counters_;
  forward::TableWriter table_;
  RouteTable accepted_;
  std::map<wire::IpPrefix, Candidate> of_kernel_;
  std::map<std::string, Interface> known_;
  Entries written_;
  std::set<wire::IpPrefix> preferred_;  // the destinations of Table::kPreferred
  std::set<wire::IpPrefix> left_out_;   // tried again with every call
};

}  // namespace viaduct::fib
