// The interfaces that a path is emulated between. Their original state is restored afterwards.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "emulate/interface_lock.h"
#include "sys/network/link.h"
#include "sys/network/packet_socket.h"

namespace viaduct::emulate {

// One interface of this namespace, which no other emulator can take until destruction. Its socket
// is opened separately, because the offloads must be off before.
class TakenInterface {
 public:
  // Locks the interface and reads its state; changes nothing. Throws UsageError if there is none,
  // it is down, or another emulator has it. `holder` tells other emulators who has it now.
  TakenInterface(const std::string& name, const std::string& holder);

  const std::string& name() const { return name_; }
  // Switches off the offloads that combine several frames into one. Throws EnvironmentError if the
  // driver cannot.
  void SwitchOffloadsOff() const;
  // Opens a packet socket in promiscuous mode, not bound yet. Throws SystemError. Needs
  // CAP_NET_RAW.
  sys::PacketSocket Open() const { return sys::OpenPacketSocket(name_, true); }
  // Restores the offloads, if the interface is still there, and removes the lock.
  void GiveBack();

 private:
  std::string name_;
  InterfaceLock lock_;
  std::vector<std::string> offloads_;  // those that were on
};

}  // namespace viaduct::emulate
