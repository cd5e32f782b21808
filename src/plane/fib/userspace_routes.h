// The data plane that forwards in a separate process (src/plane/forward), by a table in shared
// memory.
//
// The routes are also passed to the node's kernel, which does not forward, but sends the node's own
// packets by these routes. The kernel's other routes (the node's own addresses, connected networks,
// routes of other programs) are read from the kernel, so the kernel and the forwarder decide alike.
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

// The sink of the data plane `userspace`, and the only writer of a node's forwarding table.
class UserspaceRoutes final : public RouteSink {
 public:
  // The size of the table in words: for several hundred thousand routes. Only words that are
  // written take memory.
  static constexpr size_t kTableWords = (size_t{128} << 20) / sizeof(forward::Word);

  // Creates the table with `table_words` words. Throws Error if there is no shared memory, or if
  // the table has no space for the kernel's routes.
  explicit UserspaceRoutes(const NodePlace& place, size_t table_words = kTableWords);

  // Reinstalls missing routes in the kernel, and reads the kernel's routes again. Routes for which
  // the table has no space count as missing.
  size_t Reinstall() override;
  // Returns a descriptor that is readable when other programs have changed the node's kernel.
  int EventFd() const override { return events_.fd(); }
  void TakeEvents() override;
  const RouteTable& Routes() const override { return kernel_.Routes(); }
  // Looks up the destination in the forwarder's table, and for the node's own packets in the
  // kernel's.
  std::optional<Passage> LookUp(const wire::IpAddress& destination) override;
  void SetUpcallDevice(int ifindex) override;
  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::map<std::string, uint64_t> Drops() const override;
  std::optional<forward::SharedWith> Shared() const override;

 private:
  // A kernel route to a destination. Of several candidates, the kernel prefers the candidate with
  // the lowest metric.
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
  // Returns whether a preferred route to a larger network decides for this destination, so that the
  // main table's route to the destination is left out of the forwarder's table.
  bool IsHidden(const wire::IpPrefix& destination);
  // Returns the entry of the protocol's route of this table with the lowest metric, if that is less
  // than `below_metric`; otherwise an entry of kind kNone.
  forward::Entry OwnOf(const wire::IpPrefix& destination, Table table, int64_t below_metric);
  void FindPreferred();
  forward::Entry BestOf(const wire::IpPrefix& destination);
  // Writes the entry of a destination to the table. Returns false if the table is full: the table
  // is then unchanged, and the destination is in left_out_.
  bool Write(const wire::IpPrefix& destination);
  void WriteAll();  // must be called between table_.Begin() and table_.Publish()
  void FollowKernel();
  void ReleaseCopies();
  // Writes a route to the table. If the table has no space for the route, the table stays
  // unchanged, and the changes that restore the kernel's routes are added to `undo`, so that the
  // kernel and the forwarder decide alike.
  void Accept(const Route& route, RouteChanges* undo);
  std::vector<RefusedRoute> ApplyToKernel(const RouteChanges& changes);

  KernelRoutes kernel_;
  sys::Netlink session_;
  sys::ChangeMonitor others_;  // changes of the routes that ReadKernel() reads
  KernelCopies copies_;
  Poller events_;  // events of others_ and copies_
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
  std::set<wire::IpPrefix> left_out_;   // destinations without space; every call tries again
};

}  // namespace viaduct::fib
