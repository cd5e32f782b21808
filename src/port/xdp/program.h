// The XDP program that directs an interface's frames to AF_XDP sockets (port/xdp/redirect.bpf.c):
// loading it and attaching it, alone or beside those of others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::xdp {

enum class Mode {
  kAuto,     // native where the driver can, else generic
  kNative,   // the driver runs the program, before there is an sk_buff
  kGeneric,  // the kernel's stack does, after the driver (XDP_FLAGS_SKB_MODE)
};

// Why this build has no AF_XDP; empty: it has.
std::string WhyNotBuilt();

// Attached as long as this lives. Where the interface has no XDP program, by a link that the kernel
// removes with this process. Where it has the dispatcher of libxdp (of xdp-tools, Cilium...),
// beside the others there: that survives this process if it is killed (Left()), and then passes
// everything to the kernel.
class Program {
 public:
  // Attaches it to an interface of the calling thread's namespace. Its map is empty: the kernel
  // gets all frames. `filter`: which frames go to sockets, in tcpdump's syntax; empty: all. Throws
  // UsageError where libpcap does not understand the filter; EnvironmentError, which says what is
  // in the way: the build, the kernel, the driver, a program of somebody else's.
  Program(const std::string& interface, int ifindex, uint32_t queues, const std::string& filter,
          Mode mode);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  UniqueFd Map() const;  // the XSKMAP, by queue
  bool native() const { return is_native_; }
  // Why it is generic if kAuto was asked for; else empty.
  const std::string& why_generic() const { return why_generic_; }
  std::string Placement() const;  // "alone", "beside 2 others"
  // The id of the program that somebody has to detach if this process is killed; 0: nobody.
  uint32_t Left() const;

  uint32_t Id() const;  // the kernel's number of it

  // What it does with a frame, without a frame (BPF_PROG_TEST_RUN): whether the filter matches, as
  // far as sockets are there. For tests.
  int Descriptor() const;

 private:
  struct State;
  void AttachAlone(Mode mode);
  void AttachBeside(Mode mode);

  std::unique_ptr<State> state_;
  std::string interface_;
  int ifindex_;
  bool is_native_ = false;
  std::string why_generic_;
};

// Detaches a program that a killed process has left in a dispatcher (Program::Left()); nothing if
// it is gone. In the calling thread's namespace.
void DetachLeft(int ifindex, uint32_t program);

// Waits, for so long at most, until a program is no longer loaded.
void AwaitUnloaded(uint32_t program, Duration timeout);

// What XDP programs the interface has, in words: "program 17 (xdp_drop), native". Empty: none.
std::string DescribePrograms(int ifindex);

}  // namespace viaduct::xdp
