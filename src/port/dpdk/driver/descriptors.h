// Descriptors that DPDK opens.
#pragma once

#include <set>

namespace viaduct::dpdk {

// Knows those that are opened while it lives, by this or another thread.
class NewDescriptors {
 public:
  NewDescriptors();

  // Sets close-on-exec on all of them: DPDK does not.
  void CloseOnExec() const;
  // The one that is a packet socket bound to this interface, which net_af_packet sends and receives
  // by; -1: there is none.
  int PacketSocketOf(int ifindex) const;

 private:
  std::set<int> Present() const;

  std::set<int> before_;
};

}  // namespace viaduct::dpdk
