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

// What a program did with one frame, in a test of it.
struct Verdict {
  enum class Action { kToKernel, kRedirected, kDropped, kOther };
  Action action = Action::kOther;
  std::vector<std::byte> frame;  // afterwards
};

// An object file in this program's memory (programs.cmake), for as long as the process runs. Empty
// in a build without eBPF.
struct EmbeddedProgram {
  const unsigned char* bytes;
  size_t size;
};

struct MapSize {
  const char* map;
  size_t entries;
};

// The programs of a file, their tables and where they are attached; all end with this object or
// this process, unless said otherwise. Nothing is pinned. For use by one thread.
class Object {
 public:
  // What a program is for, and what to do without it: the begin and the end of errors.
  struct Purpose {
    const char* what;
    const char* instead;
  };
  static constexpr Purpose kDataPlane{"eBPF data plane", "use another data_plane"};
  enum class Side { kIngress, kEgress };

  // `program`: the one that Attach() and Try() are about. `constants`: the values of the object's,
  // in their order. Throws EnvironmentError, with the kernel's reason, if it cannot be loaded, or
  // if this build has no eBPF.
  Object(EmbeddedProgram file, const char* program, std::initializer_list<MapSize> sizes,
         std::span<const std::byte> constants = {}, const Purpose& purpose = kDataPlane);

  // A table, whose descriptor the object owns.
  bpf::Map Map(const char* name) const;
  // Decides about each packet before a socket's queue, for as long as the socket exists. Throws
  // SystemError.
  void AttachToSocket(int socket) const;
  // At the ingress of an interface of the calling thread's namespace. Before Linux 6.6 the program
  // stays there as long as the interface. Throws EnvironmentError.
  void Attach(int ifindex);
  // The same, for as long as the descriptor is open, at most as long as the interface exists.
  // Throws EnvironmentError, before Linux 6.6 always.
  [[nodiscard]] UniqueFd AttachWhileOpen(int ifindex) const;
  // One of the object's programs, before all others that are or will be at this side of the
  // interface, for as long as the descriptor is open. Before Linux 6.6 it returns none, and the
  // program stays as AttachToClsact() says. Throws EnvironmentError.
  [[nodiscard]] UniqueFd AttachFirst(const char* program, int ifindex, Side side) const;
  // One of the object's programs, for as long as the interface exists, longer than this object; in
  // place of the one that was put there in this way before. Throws EnvironmentError.
  void AttachToClsact(const char* program, int ifindex, Side side) const;
  // What the program does with a frame that comes in on an interface of the calling thread's
  // namespace, without sending it (BPF_PROG_TEST_RUN). For tests.
  Verdict Try(int ifindex, wire::ConstBytes frame) const;

 private:
  void AttachToClsact(bpf_tc_opts* options, int ifindex, Side side) const;
  // Empty if the kernel has no tcx.
  UniqueFd AttachToTcx(int ifindex) const;

  Purpose purpose_;
  std::unique_ptr<bpf_object, void (*)(bpf_object*)> object_;
  int program_ = -1;  // the object's
  std::vector<UniqueFd> links_;
};

}  // namespace viaduct::bpf
