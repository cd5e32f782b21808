// The network of `viaduct shell`: a namespace for the program, joined to the current namespace
// through two interfaces between which the path is emulated; addresses, NAT and name resolution for
// the outside.
//
//   program's namespace      nameless middle        current namespace
//   eth0 (100.64.0.2) ------ program [path] host ------ vshPID (100.64.0.1) -- NAT -- outside
//
// The addresses have IPv6 counterparts (path/shell/shell_addresses.h) if IPv6 is available.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "path/shell/shell_outside.h"
#include "path/shell/shell_record.h"
#include "sys/machine/machine_lock.h"
#include "sys/network/link.h"

namespace viaduct::path {

// Returns the name servers of a resolv.conf(5).
std::vector<std::string> NameServers(const std::string& resolv_conf);

// The setup that a program inside a shell needs for name resolution; empty if the program can use
// the machine's resolv.conf.
struct NameService {
  // The file to mount as /etc/resolv.conf: a file of the machine that names servers other than
  // loopback addresses, which inside a shell would be the program's own loopback.
  std::optional<std::string> file;
  // If no such file exists: the IPv4 loopback address on which a name server listens; the program
  // reaches this name server through the host's address.
  std::optional<std::string> forward_to;
};
NameService FindNameService(const std::string& etc_resolv_conf,
                            const std::string& systemd_resolv_conf);

// The network of one shell. Must be created in the current namespace by a single-threaded process
// as root; recorded before it is created.
class ShellNetwork {
 public:
  // Creates the network for this user. Throws EnvironmentError or SystemError; in that case no part
  // of the network is left.
  explicit ShellNetwork(uint32_t uid);
  // Ends the processes in the program's namespace and removes the network; the record stays if a
  // part cannot be removed.
  ~ShellNetwork();
  ShellNetwork(const ShellNetwork&) = delete;
  ShellNetwork& operator=(const ShellNetwork&) = delete;

  const ShellInfo& info() const { return info_; }
  int inside() const { return inside_.get(); }
  int middle() const { return middle_.get(); }
  // Returns the reason why the program can reach nothing beyond this namespace; empty if the
  // program reaches the outside.
  const std::string& limits() const { return limits_; }
  // Returns the reason why the program has less connectivity by IPv6 than by IPv4; empty if the
  // connectivity is the same, or if there is no IPv6 here.
  const std::string& ipv6_limits() const { return ipv6_limits_; }

  // Must be called in the process that will start the program. If the program cannot use the
  // machine's resolv.conf, mounts another file in its place, in a new mount namespace.
  void EnterNameService() const;
  // Closes the descriptor of the middle namespace. Must be called when the ports are open.
  void CloseMiddle() { middle_.reset(); }

  // Returns the descriptor that is readable when interfaces may have appeared; FollowInterfaces()
  // lets these interfaces forward for the shell.
  int monitor() const { return monitor_.fd(); }
  void FollowInterfaces();

 private:
  void Build(const std::vector<wire::IpPrefix>& taken);
  void Choose(const wire::IpPrefix& subnet);
  void CreateLinks();
  void DescribeInside(const std::optional<ShellInside>& outer);
  void AddAddresses();
  void RaiseLinks();
  void AddRoutes(const std::vector<wire::IpPrefix>& outer);
  void JoinNeighbours();
  void OpenOutside(const sys::MachineLock& lock);

  ShellInfo info_;  // info_.name is also the name of the interface here and of the nft tables
  sys::OwnEntry record_;
  UniqueFd inside_, middle_;
  std::vector<ShellSubnet> subnets_;  // the IPv4 subnet and, if available, the IPv6 subnet
  NameService names_;
  std::string limits_, ipv6_limits_;
  sys::LinkMonitor monitor_;
};

}  // namespace viaduct::path
