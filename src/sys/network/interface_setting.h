// Kernel parameters of one interface. Each is a file whose path contains the interface's name,
// although the interface may be renamed at any time.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::sys {

// A parameter of an interface of the calling thread's namespace, identified by the ifindex, so that
// the interface may be renamed. The parameter of another interface is never read or written: when
// an interface is renamed, the kernel removes its files (unregister_net_sysctl_table()), and open
// ones can no longer be read or written.
class InterfaceSetting {
 public:
  // `pattern`: the parameter's path with {} in the place of the interface's name:
  // "net/ipv4/conf/{}/forwarding".
  InterfaceSetting(int ifindex, std::string pattern);

  // IsThere() returns whether both the interface and the parameter exist; if not, IsOn() returns
  // false. Both throw SystemError.
  bool IsThere() const;
  bool IsOn() const;
  // Sets the parameter. Returns false if the interface or the parameter does not exist. Throws
  // SystemError.
  bool Set(bool on) const;

 private:
  UniqueFd Open(int mode) const;
  template <class Work>
  bool Do(int mode, const Work& work) const;

  int ifindex_;
  std::string pattern_;
};

}  // namespace viaduct::sys
