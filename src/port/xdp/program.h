// The XDP program that directs an interface's frames to AF_XDP sockets (port/xdp/redirect.bpf.c):
// loads it and attaches it, alone or next to other programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::xdp {

enum class Mode {
  kAuto,     // native if the driver can, else generic
  kNative,   // the driver runs the program, before there is an sk_buff
  kGeneric,  // the kernel's stack runs the program, after the driver (XDP_FLAGS_SKB_MODE)
};

// Returns the reason that this build has no AF_XDP; empty: it has.
std::string Unavailable();

// A program that is attached during this object's lifetime. If the interface has no XDP program, it
// is attached by a link that the kernel removes with this process. If the interface has the
// dispatcher of libxdp (of xdp-tools, Cilium...), it is added to the programs there: then it
// survives this process if it is killed (Left()), and passes everything to the kernel.
class Program {
 public:
  // Attaches the program to an interface of the calling thread's namespace. Its map is empty: the
  // kernel gets all frames. `filter`: the frames that go to sockets, in tcpdump's syntax; empty:
  // all. Throws UsageError if libpcap does not understand the filter; EnvironmentError with the
  // reason: the build, the kernel, the driver, a foreign program.
  Program(const std::string& interface, int ifindex, uint32_t queues, const std::string& filter,
          Mode mode);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  UniqueFd Map() const;  // the XSKMAP; key: the queue
  bool native() const { return is_native_; }
  // The reason that it is generic although kAuto was asked for; else empty.
  const std::string& why_generic() const { return why_generic_; }
  std::string Placement() const;  // "alone", "beside 2 others"
  // Returns the id of the program if it must be detached when this process is killed; else 0.
  uint32_t Left() const;

  uint32_t Id() const;  // the kernel's id of the program

  // Returns the program's descriptor, for tests: BPF_PROG_TEST_RUN shows its decision about a
  // frame: whether the filter matches, if there are sockets.
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

// Detaches a program that a killed process has left in a dispatcher (Program::Left()); does nothing
// if it is gone. Acts in the calling thread's namespace.
void DetachLeft(int ifindex, uint32_t program);

// Waits until a program is no longer loaded, or the timeout has passed.
void AwaitUnloaded(uint32_t program, Duration timeout);

// Describes the XDP programs of the interface: "program 17 (xdp_drop), native". Empty: none.
std::string DescribePrograms(int ifindex);

}  // namespace viaduct::xdp
