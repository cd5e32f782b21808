// Kernel parameters of one interface, which are files with its name in their paths, although it may
// be renamed at any time.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::sys {

// A parameter of an interface of the calling thread's namespace, under whatever name the interface
// has now. It is never another interface's: when one is renamed, the kernel removes its files
// (unregister_net_sysctl_table()), and those that are open can no more be read or written.
class InterfaceSetting {
 public:
  // `pattern` has {} where the name is: "net/ipv4/conf/{}/forwarding".
  InterfaceSetting(int ifindex, std::string pattern);

  // Whether there are both the interface and the parameter; without it, it is off. These throw
  // SystemError.
  bool IsThere() const;
  bool IsOn() const;
  // Returns false if it is not there.
  bool Set(bool on) const;

 private:
  UniqueFd Open(int mode) const;
  template <class Work>
  bool Do(int mode, const Work& work) const;

  int ifindex_;
  std::string pattern_;
};

}  // namespace viaduct::sys
