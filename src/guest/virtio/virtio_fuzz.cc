// Whatever a guest sends and writes into its rings, the back end of its network device either
// accepts it or throws Error. The input is a stream of vhost-user messages; the memory that it
// refers to is the input again.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "guest/time/time_travel.h"
#include "guest/virtio/net_backend.h"
#include "guest/virtio/vhost_message.h"

namespace {

using namespace viaduct;
using namespace viaduct::guest;

constexpr size_t kMemory = 1 << 16;

UniqueFd MemoryOf(std::span<const std::byte> bytes) {
  UniqueFd fd(memfd_create("fuzz", MFD_CLOEXEC));
  if (ftruncate(fd.get(), kMemory) != 0) __builtin_trap();
  (void)!pwrite(fd.get(), bytes.data(), std::min(bytes.size(), kMemory), 0);
  return fd;
}

void Exercise(NetBackend& backend) {
  std::vector<std::byte> frame(3000);
  if (backend.ready()) backend.PutFrame(frame);
  for (int i = 0; i < 8; ++i) {
    const auto head = backend.TakeFrame(frame);
    if (!head) break;
    backend.ReturnFrame(*head);
  }
  backend.WantsInterrupt(NetBackend::kRxQueue);
}

void Serve(std::span<const std::byte> bytes) {
  NetBackend backend(wire::MacAddress{}, true);
  VhostAssembler assembler;
  assembler.Add(bytes, {});
  while (auto message = assembler.Next()) {
    const auto request = static_cast<VhostRequest>(message->header.request);
    if (request == VhostRequest::kSetMemTable) message->descriptors.push_back(MemoryOf(bytes));
    backend.Handle(*message);
    Exercise(backend);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  ParseTimeTravel(bytes.first(std::min(size, sizeof(TimeTravelMessage))));
  try {
    Serve(bytes);
  } catch (const Error&) {
  }
  return 0;
}
