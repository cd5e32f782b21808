// Fuzzes the back end of a guest's network device. Whatever the guest sends and writes into its
// memory, the back end must either accept it or throw Error, and no frame may be longer than
// NetBackend::kMaxFrame.
//
// The input's first byte selects one of two guests; the following bytes are the guest's. The first
// guest sends its bytes as a stream of vhost-user messages, and its memory holds the same bytes.
// The second guest has set its device up as drivers do, and its bytes are a sequence of steps: each
// step writes bytes at an offset of the memory and then lets the device read its rings.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "guest/time/time_travel.h"
#include "guest/virtio/net_backend.h"
#include "guest/virtio/shared_mapping.h"
#include "guest/virtio/vhost_message.h"

namespace {

using namespace viaduct;
using namespace viaduct::guest;

constexpr size_t kMemory = 1 << 17;
constexpr uint32_t kQueueSize = 16;
// The offsets of the parts of queue 0; the parts of queue 1 are in the next page.
constexpr uint64_t kDescriptors = 0, kAvailable = 0x400, kUsed = 0x800, kPage = 0x1000;

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
    if (frame.size() > NetBackend::kMaxFrame) __builtin_trap();
    backend.ReturnFrame(*head);
  }
  backend.WantsInterrupt(NetBackend::kRxQueue);
}

void ServeStream(std::span<const std::byte> bytes) {
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

template <typename T>
void Tell(NetBackend& backend, VhostRequest request, const T& payload, UniqueFd descriptor = {}) {
  VhostMessage message;
  const auto bytes = std::as_bytes(std::span(&payload, 1));
  message.header = {static_cast<uint32_t>(request), kVhostVersion,
                    static_cast<uint32_t>(bytes.size())};
  message.payload.assign(bytes.begin(), bytes.end());
  if (descriptor) message.descriptors.push_back(std::move(descriptor));
  backend.Handle(message);
}

void SetUp(NetBackend& backend, const UniqueFd& memory) {
  struct {
    uint32_t count = 1, padding = 0;
    MemoryRegion region{0, kMemory, 0, 0};
  } table;
  Tell(backend, VhostRequest::kSetMemTable, table, UniqueFd(dup(memory.get())));
  for (const uint32_t queue : {NetBackend::kRxQueue, NetBackend::kTxQueue}) {
    const uint64_t base = queue * kPage;
    Tell(backend, VhostRequest::kSetVringNum, VringState{queue, kQueueSize});
    Tell(backend, VhostRequest::kSetVringAddr,
         VringAddresses{queue, 0, base + kDescriptors, base + kUsed, base + kAvailable, 0});
    Tell(backend, VhostRequest::kSetVringEnable, VringState{queue, 1});
  }
}

struct Step {
  uint16_t offset;
  uint8_t length;  // the number of bytes to write
  // The number of buffers to offer to the transmit queue; 255: the memory is truncated.
  uint8_t offered;
};

// Advances the index of the transmit queue's available ring. Otherwise the device would read a
// buffer only if the input happened to change the index.
void Offer(std::byte* memory, uint16_t count) {
  auto* const index = reinterpret_cast<uint16_t*>(memory + kPage + kAvailable + 2);
  *index = static_cast<uint16_t>(*index + count);
}

void WriteMemory(std::span<const std::byte> rest) {
  NetBackend backend(wire::MacAddress{}, true);
  const UniqueFd memory = MemoryOf({});
  const SharedMapping guest(memory, kMemory);
  SetUp(backend, memory);
  Step step;
  while (rest.size() >= sizeof step) {
    std::memcpy(&step, rest.data(), sizeof step);
    rest = rest.subspan(sizeof step);
    const size_t offset = step.offset % (2 * kPage);
    const size_t length = std::min(size_t{step.length}, rest.size());
    std::memcpy(guest.start() + offset, rest.data(), length);
    rest = rest.subspan(length);
    if (step.offered == 255) (void)!ftruncate(memory.get(), kPage);
    Offer(guest.start(), step.offered % 3);
    Exercise(backend);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  ParseTimeTravel(bytes.first(std::min(size, sizeof(TimeTravelMessage))));
  if (size == 0) return 0;
  try {
    data[0] % 2 == 0 ? ServeStream(bytes.subspan(1)) : WriteMemory(bytes.subspan(1));
  } catch (const Error&) {
  }
  return 0;
}
