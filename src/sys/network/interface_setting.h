// Kernel parameters of one interface, which are files with its name in their paths, although the
// interface may be renamed at any time.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::sys {

// A parameter of an interface of the calling thread's namespace, whatever name the interface has
// now. It is never another interface's: when an interface is renamed, the kernel removes its files
// (unregister_net_sysctl_table()), and open ones can no longer be read or written.
class InterfaceSetting {
 public:
  // `pattern` has {} in the place of the name: "net/ipv4/conf/{}/forwarding".
  InterfaceSetting(int ifindex, std::string pattern);

  // IsThere() returns whether both the interface and the parameter exist; if not, IsOn() returns
  // false. Both throw SystemError.
  bool IsThere() const;
  bool IsOn() const;
  // Returns false if the interface or the parameter does not exist. Throws SystemError.
  bool Set(bool on) const;

 private:
  UniqueFd Open(int mode) const;
  template <class Work>
  bool Do(int mode, const Work& work) const;

  int ifindex_;
  std::string pattern_;
};

}  // namespace viaduct::sys
