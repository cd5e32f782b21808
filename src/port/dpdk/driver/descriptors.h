// Descriptors that DPDK opens.
#pragma once

#include <set>

namespace viaduct::dpdk {

// Knows the descriptors that any thread opens during this object's lifetime.
class NewDescriptors {
 public:
  NewDescriptors();

  // Sets close-on-exec on all of them: DPDK does not.
  void CloseOnExec() const;
  // Returns the packet socket bound to this interface, with which net_af_packet sends and receives;
  // -1: there is none.
  int PacketSocketOf(int ifindex) const;

 private:
  std::set<int> Present() const;

  std::set<int> before_;
};

}  // namespace viaduct::dpdk
