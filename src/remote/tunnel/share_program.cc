#include "remote/tunnel/share_program.h"

#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "sys/bpf/object.h"

namespace viaduct::bpf {
extern const EmbeddedProgram kShareProgram;
}

namespace viaduct::tunnel {
namespace {

constexpr bpf::Object::Purpose kOfShares{
    "the eBPF program attached to the tunnel's socket",
    "one client that floods the hub can therefore fill the receive buffer of all clients"};

template <class T>
std::unique_ptr<T, Unmap> MapTable(const bpf::Object& object, const char* name, size_t entries) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (entries * sizeof(T) + page - 1) / page * page;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, object.Map(name).fd(), 0);
  if (memory == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr): a macro of the kernel's
    throw EnvironmentError(SystemError("map an eBPF map into memory", errno).what());
  }
  return {static_cast<T*>(memory), Unmap{bytes}};
}

}  // namespace

Shares AttachShares(int socket, std::span<const uint32_t> vnis, uint64_t room) {
  const bpf::Object object(bpf::kShareProgram, "viaduct_share",
                           {{"shares", vnis.size() + 1}, {"share_vnis", vnis.size()}}, {},
                           kOfShares);
  const bpf::Map by_vni = object.Map("share_vnis");
  uint32_t index = VIADUCT_SHARE_FOREIGN;
  for (const uint32_t vni : vnis) {
    ++index;
    by_vni.Set(vni, index, "store a VNI in an eBPF map");
  }
  Shares shares{MapTable<viaduct_share>(object, "shares", vnis.size() + 1),
                MapTable<viaduct_share_sum>(object, "share_sum", 1)};
  shares.sum->room = room;
  object.AttachToSocket(socket);
  return shares;
}

}  // namespace viaduct::tunnel
