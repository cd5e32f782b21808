// The data plane that forwards in a separate process (src/plane/forward), by a table in shared
// memory.
//
// The routes are passed to the node's kernel as well, which sends the node's own packets by them
// but does not forward. The kernel's other routes (the node's own addresses, connected networks,
// routes of other programs) are read from it, so both decide alike.
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

// The only writer of a node's table.
class UserspaceRoutes final : public RouteSink {
 public:
  // Space for several hundred thousand routes. Only words that are written take memory.
  static constexpr size_t kTableWords = (size_t{128} << 20) / sizeof(forward::Word);

  // `table_words`: the size of the table. Throws Error if there is no shared memory, or none of the
  // node's own routes fits.
  explicit UserspaceRoutes(const NodePlace& place, size_t table_words = kTableWords);

  // Reads the kernel's routes again, too. Routes for which the table has no space count as missing.
  size_t Reinstall() override;
  // Returns a descriptor that is readable when other programs have changed the node's kernel.
  int EventFd() const override { return events_.fd(); }
  void TakeEvents() override;
  const RouteTable& Routes() const override { return kernel_.Routes(); }
  // Looks up the forwarder's table, and for the node's own packets the kernel's.
  std::optional<Passage> LookUp(const wire::IpAddress& destination) override;
  void SetUpcallDevice(int ifindex) override;
  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::map<std::string, uint64_t> Drops() const override;
  std::optional<forward::SharedWith> Shared() const override;

 private:
  // A route of the kernel; the kernel prefers the lowest metric.
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
  // Returns whether a route of the preferred table decides for this destination, so that the main
  // table's route, or a preferred one to a larger network, is left out.
  bool IsHidden(const wire::IpPrefix& destination);
  // Returns the entry of the protocol's route, if its metric is less than `below_metric`.
  forward::Entry OwnOf(const wire::IpPrefix& destination, Table table, int64_t below_metric);
  void FindPreferred();
  forward::Entry BestOf(const wire::IpPrefix& destination);
  // Returns false if the table is full: it is unchanged then, and the destination is in left_out_.
  bool Write(const wire::IpPrefix& destination);
  void WriteAll();  // within a version
  void FollowKernel();
  void ReleaseCopies();
  // Writes a route to the table. If there is no space for it, the table stays unchanged, and the
  // changes that restore the kernel are added to `undo`, so that both decide alike.
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
  std::set<wire::IpPrefix> left_out_;   // tried again with every call
};

}  // namespace viaduct::fib
