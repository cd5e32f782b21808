// An eBPF object file that the build embeds, loaded into the kernel.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/wire/bytes.h"
#include "sys/bpf/map.h"

struct bpf_object;
struct bpf_tc_opts;

namespace viaduct::bpf {

// The effect of an eBPF program on one frame, in a test of the program.
struct Verdict {
  enum class Action { kToKernel, kRedirected, kDropped, kOther };
  Action action = Action::kOther;
  std::vector<std::byte> frame;  // the frame after the program has run
};

// An eBPF object file that is linked into this executable (programs.cmake) and stays in memory as
// long as the process runs. Empty in a build without eBPF.
struct EmbeddedProgram {
  const unsigned char* bytes;
  size_t size;
};

struct MapSize {
  const char* map;
  size_t entries;
};

// The programs of an object file, with their tables and attachments. Unless stated otherwise, all
// of them end with this object, and at the latest with this process. Nothing is pinned. For use by
// one thread.
class Object {
 public:
  // The texts about a program in errors: `what`, its purpose, begins an error; `instead`, the
  // advice for a machine that cannot run it, ends the error.
  struct Purpose {
    const char* what;
    const char* instead;
  };
  static constexpr Purpose kDataPlane{"eBPF data plane", "use another data_plane"};
  enum class Side { kIngress, kEgress };

  // Loads the object file. `program`: the program that Attach() and Try() use. `constants`: the
  // values of the object's constants, in the order of their declaration. Throws EnvironmentError,
  // with the kernel's reason, if the object cannot be loaded, or if this build has no eBPF.
  Object(EmbeddedProgram file, const char* program, std::initializer_list<MapSize> sizes,
         std::span<const std::byte> constants = {}, const Purpose& purpose = kDataPlane);

  // Returns a table of the object, which owns the table's descriptor.
  bpf::Map Map(const char* name) const;
  // Attaches the program to a socket until the socket is closed: the program decides about each
  // packet before the packet enters the socket's queue. Throws SystemError.
  void AttachToSocket(int socket) const;
  // Attaches the program to the ingress of an interface of the calling thread's namespace. Before
  // Linux 6.6 the program stays attached as long as the interface exists. Throws EnvironmentError.
  void Attach(int ifindex);
  // Attaches the program like Attach(), until the returned descriptor is closed or the interface is
  // removed. Throws EnvironmentError; before Linux 6.6 always throws.
  [[nodiscard]] UniqueFd AttachWhileOpen(int ifindex) const;
  // Attaches one of the object's programs to this side of the interface until the returned
  // descriptor is closed. The program runs before all other programs on this side, also before
  // programs that are attached later. Before Linux 6.6 returns no descriptor, and the program stays
  // attached as after AttachToClsact(). Throws EnvironmentError.
  [[nodiscard]] UniqueFd AttachFirst(const char* program, int ifindex, Side side) const;
  // Attaches one of the object's programs until the interface is removed, even if this object ends
  // earlier; replaces the program that AttachToClsact() attached before. Throws EnvironmentError.
  void AttachToClsact(const char* program, int ifindex, Side side) const;
  // Returns the effect of the program on a frame that arrives on an interface of the calling
  // thread's namespace, without sending it (BPF_PROG_TEST_RUN). For tests.
  Verdict Try(int ifindex, wire::ConstBytes frame) const;

 private:
  void AttachToClsact(bpf_tc_opts* options, int ifindex, Side side) const;
  // Attaches the program by tcx. Returns an empty descriptor if the kernel has no tcx.
  UniqueFd AttachToTcx(int ifindex) const;

  Purpose purpose_;
  std::unique_ptr<bpf_object, void (*)(bpf_object*)> object_;
  int program_ = -1;  // the descriptor of the program that the constructor names
  std::vector<UniqueFd> links_;
};

}  // namespace viaduct::bpf
