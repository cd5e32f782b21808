// The interfaces that a path is emulated between. Their original state is restored afterwards.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "emulate/interface_lock.h"
#include "io/port.h"
#include "sys/network/link.h"

namespace viaduct::emulate {

// One interface of this namespace, which no other emulator can take until destruction. Its port is
// opened separately, because the offloads must be off before.
class TakenInterface {
 public:
  // Locks the interface and reads its state; changes nothing. Throws UsageError if there is none,
  // it is down, or another emulator has it. `holder` tells other emulators who has it now.
  TakenInterface(const std::string& name, const std::string& holder);

  const std::string& name() const { return name_; }
  int ifindex() const { return ifindex_; }  // of the port opened last
  // Switches off the offloads that combine several frames into one. Throws EnvironmentError if the
  // driver cannot.
  void SwitchOffloadsOff() const;
  // Opens a ring port in promiscuous mode. Throws SystemError. Needs CAP_NET_RAW.
  std::unique_ptr<io::AnyPort> OpenPort();
  // From now on the destructor does nothing, because another process calls GiveBack().
  void LeaveToOthers() { lock_.LeaveRemovalToOthers(); }
  // Restores the offloads, if the interface is still there, and removes the lock.
  void GiveBack();

 private:
  std::string name_;
  int ifindex_ = 0;
  InterfaceLock lock_;
  std::vector<std::string> offloads_;  // those that were on
};

}  // namespace viaduct::emulate
