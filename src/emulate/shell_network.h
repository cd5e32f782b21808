// The network of `viaduct shell`: a namespace for the program, joined to the current one through
// two interfaces between which the path is emulated; addresses, NAT and names for the outside.
//
//   program's namespace      nameless middle        current namespace
//   eth0 (100.64.0.2) ------ program [path] host ------ vshPID (100.64.0.1) -- NAT -- outside
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "wire/address.h"

namespace viaduct::emulate {

// IPv4 name servers of resolv.conf(5).
std::vector<std::string> NameServers(const std::string& resolv_conf);

// The first /30 of 100.64.0.0/10 (RFC 6598: for carriers' NAT, so no network of anybody's) in which
// none of these lies. Error when there is none.
wire::IpPrefix FreeSubnet(const std::vector<wire::IpPrefix>& taken);

// What a program inside needs for name resolution; nothing where it can use the machine's own
// resolv.conf.
struct NameService {
  // The file to show as /etc/resolv.conf: one of the machine's that names servers other than
  // loopback addresses, which are the program's own inside.
  std::optional<std::string> file;
  // Where there is none: the loopback address that a server listens on, reached through the host's
  // address.
  std::optional<std::string> forward_to;
};
NameService FindNameService(const std::string& etc_resolv_conf,
                            const std::string& systemd_resolv_conf);

// Made in the current namespace. One thread; root. Remove() undoes what lies outside the two
// namespaces, which end with the last descriptor and process in them.
class ShellNetwork {
 public:
  // Throws EnvironmentError, SystemError; then nothing is left.
  ShellNetwork();
  ~ShellNetwork();
  ShellNetwork(const ShellNetwork&) = delete;
  ShellNetwork& operator=(const ShellNetwork&) = delete;

  int inside() const { return inside_.get(); }
  int middle() const { return middle_.get(); }
  // In the middle: the program's side, the host's side.
  static constexpr const char* kProgramPort = "program";
  static constexpr const char* kHostPort = "host";
  const wire::IpAddress& host_address() const { return host_address_; }
  // Why the program reaches nothing beyond this namespace; empty where it does.
  const std::string& limits() const { return limits_; }

  // To be called in the process that will start the program: gives it the right resolv.conf in a
  // mount namespace of its own, if need be.
  void EnterNameService() const;
  // To be called when the ports are open, and when the program has started.
  void CloseMiddle() { middle_.reset(); }
  void CloseInside() { inside_.reset(); }
  // The destructor does it too, unless another process has taken that over.
  void Remove();
  void LeaveRemovalToOthers() { is_ours_ = false; }

 private:
  void Build(const wire::IpPrefix& subnet);
  void JoinNeighbours();
  void OpenOutside();
  void ForwardOn();
  void ForwardOff();
  std::string Rules() const;

  std::string name_;  // of the interface here, and of the rules
  UniqueFd inside_, middle_;
  wire::IpAddress host_address_, program_address_;
  wire::IpPrefix subnet_;
  NameService names_;
  std::string limits_;
  bool has_rules_ = false, is_ours_ = true;
  // The shells of this namespace share the lock; the last to go restores forwarding.
  UniqueFd forwarding_lock_;
  std::string forwarding_file_;
};

}  // namespace viaduct::emulate
