#include "guest/time/shared_schedule.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/error.h"
#include "guest/time/socket_ring.h"
#include "guest/time/time_travel.h"

namespace viaduct::guest {
namespace {

constexpr uint32_t kVersion = 2;               // the value of UM_TIMETRAVEL_SCHEDSHM_VERSION
constexpr uint32_t kCapabilityTimeShare = 1;   // the value of UM_TIMETRAVEL_SCHEDSHM_CAP_TIME_SHARE
constexpr uint32_t kCapabilityVirtqueues = 2;  // UM_TIMETRAVEL_SCHEDSHM_CAP_VIRTQUEUES, patch 0005
constexpr uint32_t kCapabilityDoorbells = 4;   // UM_TIMETRAVEL_SCHEDSHM_CAP_DOORBELLS, patch 0010
constexpr uint32_t kCapabilitySockets = 8;     // UM_TIMETRAVEL_SCHEDSHM_CAP_SOCKETS, patch 0011
constexpr uint32_t kCapabilityMessages = 16;   // UM_TIMETRAVEL_SCHEDSHM_CAP_MESSAGES, patch 0011
constexpr uint32_t kFlagRequest = 1;           // the value of UM_TIMETRAVEL_SCHEDSHM_FLAGS_REQ_RUN

// The ways in which the calendar waits for the end of a run: enum um_timetravel_schedshm_ears.
constexpr uint32_t kMessages = 0;
constexpr uint32_t kMemory = 1;

// The maximum size in bytes of all rings together. Pages use memory only after they are accessed,
// but every guest maps the complete schedule.
constexpr size_t kMaxRings = size_t{1} << 30;
constexpr size_t kPage = 4096;

template <typename T>
T Load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}

template <typename T>
void Store(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

// Returns memory to which a guest can write and whose length a guest cannot change.
UniqueFd SealedMemory(size_t length) {
  UniqueFd memory(SystemCall("memfd_create",
                             memfd_create("viaduct-schedule", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  // The length is a multiple of the page size, because the kernel maps complete pages.
  SystemCall("set the size of the guests' schedule",
             ftruncate(memory.get(), static_cast<off_t>((length + 4095) & ~size_t{4095})));
  SystemCall("seal the guests' schedule",
             fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  return memory;
}

}  // namespace

struct SharedSchedule::Client {
  uint32_t capabilities;
  uint32_t flags;
  uint64_t request_time;
  uint64_t name;
  uint32_t kicks;  // the number of kicks, including those without space in `kicked`
  uint32_t calls;
  std::array<uint16_t, kMaxQueues> kicked;
  std::array<uint16_t, kMaxQueues> called;
};

// The front of the schedule: struct um_timetravel_schedshm. The clients follow the front, and the
// doorbells follow the clients.
struct SharedSchedule::Layout {
  uint32_t version;
  uint32_t length;
  uint64_t free_until;
  uint64_t current_time;
  uint16_t running;
  uint16_t max_clients;
  std::array<std::byte, 4068> reserved;
};

// A doorbell, struct um_timetravel_schedshm_doorbell; each client has one.
struct SharedSchedule::Doorbell {
  uint32_t run;
  uint32_t controller;
  std::array<uint32_t, 14> unused_controller;
  uint32_t waits;
  std::array<uint32_t, 15> unused_client;
};

SharedSchedule::SharedSchedule(uint16_t guests, bool sockets)
    : clients_(static_cast<uint16_t>(guests + 1)),
      has_rings_(sockets && SocketRing::kSize * clients_ <= kMaxRings),
      memory_(SealedMemory(Length())),
      mapping_(memory_, Length()),
      layout_(reinterpret_cast<Layout*>(mapping_.start())) {
  static_assert(sizeof(Layout) == 4096);
  layout_->version = kVersion;
  layout_->length = static_cast<uint32_t>(Length());
  layout_->max_clients = clients_;
  ClientOf(0).capabilities = kCapabilityTimeShare | kCapabilityVirtqueues | kCapabilityDoorbells;
  if (has_rings_) ClientOf(0).capabilities |= kCapabilitySockets | kCapabilityMessages;
}

size_t SharedSchedule::Length() const {
  static_assert(sizeof(Client) == 128 && sizeof(Doorbell) == 128);
  if (has_rings_) return SocketsAt() + SocketRing::kSize * clients_;
  return sizeof(Layout) + (sizeof(Client) + sizeof(Doorbell)) * clients_;
}

// Returns the offset of the first page after the doorbells.
size_t SharedSchedule::SocketsAt() const {
  const size_t doorbells_end = sizeof(Layout) + (sizeof(Client) + sizeof(Doorbell)) * clients_;
  return (doorbells_end + kPage - 1) / kPage * kPage;
}

std::byte* SharedSchedule::SocketsOf(uint16_t slot) const {
  return mapping_.start() + SocketsAt() + SocketRing::kSize * slot;
}

SharedSchedule::Client& SharedSchedule::ClientOf(uint16_t slot) const {
  return reinterpret_cast<Client*>(layout_ + 1)[slot];
}

SharedSchedule::Doorbell& SharedSchedule::BellOf(uint16_t slot) const {
  return reinterpret_cast<Doorbell*>(&ClientOf(clients_))[slot];
}

SharedSchedule::Use SharedSchedule::UseOf(uint16_t slot) const {
  const uint32_t claimed = Load(ClientOf(slot).capabilities);
  if ((claimed & kCapabilityTimeShare) == 0) return {};
  const bool sockets = (claimed & kCapabilitySockets) != 0 && has_rings_;
  return {true, (claimed & kCapabilityVirtqueues) != 0, (claimed & kCapabilityDoorbells) != 0,
          sockets, sockets && (claimed & kCapabilityMessages) != 0};
}

uint64_t SharedSchedule::CurrentTime() const { return Load(layout_->current_time); }
void SharedSchedule::SetCurrentTime(uint64_t time) { Store(layout_->current_time, time); }
void SharedSchedule::SetFreeUntil(uint64_t time) { Store(layout_->free_until, time); }
void SharedSchedule::SetRunning(uint16_t slot) { Store(layout_->running, slot); }

uint64_t SharedSchedule::Request(uint16_t slot) const {
  const Client& client = ClientOf(slot);
  return (Load(client.flags) & kFlagRequest) != 0 ? Load(client.request_time) : kNeverWire;
}

void SharedSchedule::ClearRequest(uint16_t slot) {
  uint32_t& flags = ClientOf(slot).flags;
  Store(flags, Load(flags) & ~kFlagRequest);
}

std::optional<uint16_t> SharedSchedule::QueueName(size_t device, uint32_t queue) {
  if (device >= kMaxDevices || queue >= kQueuesPerDevice) return std::nullopt;
  return static_cast<uint16_t>(device * kQueuesPerDevice + queue);
}

std::optional<std::vector<uint16_t>> SharedSchedule::TakeKicks(uint16_t slot) {
  Client& client = ClientOf(slot);
  const uint32_t count = Load(client.kicks);
  if (count == 0) return std::vector<uint16_t>();
  Store(client.kicks, uint32_t{0});
  if (count > kMaxQueues) return std::nullopt;
  return std::vector<uint16_t>(client.kicked.begin(), client.kicked.begin() + count);
}

void SharedSchedule::SetCalls(uint16_t slot, std::span<const uint16_t> queues) {
  Client& client = ClientOf(slot);
  std::copy(queues.begin(), queues.end(), client.called.begin());
  Store(client.calls, static_cast<uint32_t>(queues.size()));
}

void SharedSchedule::LetRun(uint16_t slot, bool listens) {
  Doorbell& bell = BellOf(slot);
  Store(bell.controller, listens ? kMemory : kMessages);
  Store(bell.run, Load(bell.run) + 1);
}

void SharedSchedule::Wake(uint16_t slot) {
  syscall(SYS_futex, &BellOf(slot).run, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::optional<uint32_t> SharedSchedule::AwaitWait(uint16_t slot, uint32_t waits, Duration timeout) {
  Doorbell& bell = BellOf(slot);
  // If the guest's process shares a processor with this process, the guest has often run by now.
  uint32_t now = Load(bell.waits);
  if (now != waits) return now;
  const timespec limit{timeout.nanoseconds() / 1'000'000'000,
                       timeout.nanoseconds() % 1'000'000'000};
  syscall(SYS_futex, &bell.waits, FUTEX_WAIT, waits, &limit, nullptr, 0);
  now = Load(bell.waits);
  if (now != waits) return now;
  Store(bell.controller, kMessages);
  // The guest counts its wait and then reads `controller`; this process stores `controller` and
  // then reads the count. So either the guest sees that it must send a message, or this process
  // sees the wait.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  now = Load(bell.waits);
  if (now != waits) return now;
  return std::nullopt;
}

}  // namespace viaduct::guest
