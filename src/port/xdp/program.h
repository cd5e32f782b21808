// The XDP program that directs an interface's frames to AF_XDP sockets (port/xdp/redirect.bpf.c):
// loads the program, and attaches it alone or together with other programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::xdp {

enum class Mode {
  kAuto,     // native if the driver supports it, else generic
  kNative,   // the driver runs the program, before there is an sk_buff
  kGeneric,  // the kernel's stack runs the program, after the driver (XDP_FLAGS_SKB_MODE)
};

// Returns the reason that this build has no AF_XDP; empty if it has AF_XDP.
std::string Unavailable();

// A program that is attached during this object's lifetime. If the interface has no XDP program,
// the program is attached by a link that the kernel removes when this process exits. If the
// interface has the dispatcher of libxdp (of xdp-tools, Cilium...), the program is added to the
// dispatcher's programs. In the dispatcher the program stays attached if this process is killed
// (Left()), and passes every frame to the kernel.
class Program {
 public:
  // Attaches the program to an interface of the calling thread's network namespace. While its map
  // is empty, the kernel gets all frames. `filter`: the frames that go to sockets, in tcpdump's
  // syntax; empty: all frames. Throws UsageError if libpcap does not understand the filter;
  // EnvironmentError with the reason, which may be the build, the kernel, the driver, or another
  // program.
  Program(const std::string& interface, int ifindex, uint32_t queues, const std::string& filter,
          Mode mode);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  UniqueFd Map() const;  // the XSKMAP; key: the queue
  bool native() const { return is_native_; }
  // Returns the reason that the program is generic although kAuto was requested; else empty.
  const std::string& why_generic() const { return why_generic_; }
  // Returns, for example, "only XDP program on the interface".
  std::string Placement() const;
  // Returns the id of the program if it must be detached after this process was killed; else 0.
  uint32_t Left() const;

  uint32_t Id() const;  // the kernel's id of the program

  // Returns the program's descriptor, for tests: BPF_PROG_TEST_RUN shows the program's decision
  // about a frame. If there are sockets, the decision depends on the filter.
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
// if the program is gone. Acts in the calling thread's network namespace.
void DetachLeft(int ifindex, uint32_t program);

// Waits until a program is no longer loaded, or until the timeout has passed.
void AwaitUnloaded(uint32_t program, Duration timeout);

// Returns a description of an interface's XDP program, such as "program 17 (xdp_drop), native";
// empty if it has none.
std::string DescribePrograms(int ifindex);

}  // namespace viaduct::xdp
