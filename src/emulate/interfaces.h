// The interfaces a path is emulated between: taken for it, and given back as they were.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "emulate/path_record.h"
#include "io/port.h"
#include "sys/link.h"

namespace viaduct::emulate {

// One interface of this namespace, ours alone among emulators until destruction. Its port is opened
// separately, because that needs the offloads to be off.
class TakenInterface {
 public:
  // Locks it and looks at it; changes nothing. UsageError: there is none, it is down, another
  // emulator has it. `holder`: who we are, for that message.
  TakenInterface(const std::string& name, const std::string& holder);

  const std::string& name() const { return name_; }
  int ifindex() const { return ifindex_; }  // of the port opened last
  // Switches off what makes one frame of several. EnvironmentError: the driver does not let us.
  void SwitchOffloadsOff() const;
  // A ring port in promiscuous mode. Throws SystemError. Needs CAP_NET_RAW.
  std::unique_ptr<io::AnyPort> OpenPort();
  // Another process calls GiveBack().
  void LeaveToOthers() { lock_.LeaveRemovalToOthers(); }
  // Offloads as they were, if the interface is still there; then the lock is removed.
  void GiveBack();

 private:
  std::string name_;
  int ifindex_ = 0;
  InterfaceLock lock_;
  std::vector<std::string> offloads_;  // that were on
};

}  // namespace viaduct::emulate
