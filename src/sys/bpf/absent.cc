// Replaces object.cc, map.cc, ring.cc and refusal.cc in a build without clang or libbpf. The
// constructor of Object always throws in such a build, so no other function of these files is ever
// called.
#include <fmt/format.h>

#include "base/error.h"
#include "sys/bpf/object.h"
#include "sys/bpf/ring.h"

struct bpf_object {};
struct ring_buffer {};

namespace viaduct::bpf {

Object::Object(EmbeddedProgram, const char*, std::initializer_list<MapSize>,
               std::span<const std::byte>, const Purpose& purpose)
    : object_(nullptr, nullptr) {
  throw EnvironmentError(fmt::format(
      "{}: this build does not support eBPF: clang or libbpf-dev was missing (run setup/packages "
      "build, then build again); {}",
      purpose.what, purpose.instead));
}
bpf::Map Object::Map(const char*) const { return bpf::Map(-1); }
void Object::AttachToSocket(int) const {}
void Object::Attach(int) {}
UniqueFd Object::AttachWhileOpen(int) const { return {}; }
UniqueFd Object::AttachFirst(const char*, int, Side) const { return {}; }
void Object::AttachToClsact(const char*, int, Side) const {}
Verdict Object::Try(int, wire::ConstBytes) const { return {}; }

size_t PossibleProcessors() { return 1; }
void Map::Require(bool, std::string_view) {}
bool Map::SetBytes(const void*, const void*, uint64_t) const { return false; }
bool Map::GetBytes(const void*, void*, uint64_t) const { return false; }
void Map::RemoveBytes(const void*) const {}

Ring::Ring(const Map&, Handler, std::string_view) : ring_(nullptr, nullptr) {}
Ring::~Ring() = default;
int Ring::fd() const { return -1; }
void Ring::Read() {}

}  // namespace viaduct::bpf
