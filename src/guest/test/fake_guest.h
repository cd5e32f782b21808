// A simulated guest for tests: it uses the time-travel and vhost-user protocols as a kernel does,
// or deviates from them as the test's script requires. The script runs in a separate thread.
#pragma once

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "guest/time/guest.h"
#include "guest/time/socket_ring.h"
#include "guest/time/time_travel.h"
#include "guest/virtio/guest_socket.h"
#include "guest/virtio/net_backend.h"
#include "guest/virtio/vhost_message.h"

namespace viaduct::guest {

// Thrown when the calendar has closed a connection, which ends the script.
struct CalendarGone {};

inline UniqueFd ConnectTo(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  UniqueFd fd(SystemCall("socket", socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  SystemCall("connect " + path.string(),
             connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  return fd;
}

// Receives exactly bytes.size() bytes.
inline void ReceiveExactly(int fd, std::span<std::byte> bytes, std::vector<UniqueFd>& descriptors) {
  while (!bytes.empty()) {
    const size_t length = ReceiveWithDescriptors(fd, bytes, descriptors);
    if (length == 0) throw CalendarGone();
    bytes = bytes.subspan(length);
  }
}

// The driver's side of one network device, and the device's memory.
class FakeDevice {
 public:
  static constexpr uint32_t kQueueSize = 16;
  static constexpr size_t kBufferSize = 2048;
  static constexpr size_t kMemorySize = 1 << 20;
  static constexpr uint64_t kGuestBase = 0x100000;
  // The offsets of the queues' parts in the memory.
  static size_t Descriptors(uint32_t queue) { return queue * 0x4000; }
  static size_t AvailableRing(uint32_t queue) { return queue * 0x4000 + 0x1000; }
  static size_t UsedRing(uint32_t queue) { return queue * 0x4000 + 0x2000; }
  static size_t Buffer(uint32_t queue, uint32_t index) {
    return 0x10000 + (queue * kQueueSize + index) * kBufferSize;
  }

  // A function that sends a request to the device and returns the payload of the answer, if there
  // is an answer.
  using Carry = std::function<std::vector<std::byte>(
      VhostRequest request, std::span<const std::byte> payload, bool answer, int descriptor)>;

  explicit FakeDevice(Carry carry) : carry_(std::move(carry)) {
    memory_fd_.reset(SystemCall("memfd_create", memfd_create("fake-guest", MFD_CLOEXEC)));
    SystemCall("ftruncate", ftruncate(memory_fd_.get(), kMemorySize));
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, kMemorySize, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_.get(), 0));
  }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;
  ~FakeDevice() { munmap(memory_, kMemorySize); }

  template <typename T>
  std::vector<std::byte> Ask(VhostRequest request, const T& payload, bool answer = true,
                             int descriptor = -1) {
    return carry_(request, std::as_bytes(std::span(&payload, 1)), answer, descriptor);
  }

  // Sends all requests of a driver's setup, after which frames can be exchanged in both directions.
  void SetUp() {
    carry_(VhostRequest::kSetOwner, {}, false, -1);
    carry_(VhostRequest::kGetFeatures, {}, true, -1);
    carry_(VhostRequest::kGetProtocolFeatures, {}, true, -1);
    Ask(VhostRequest::kSetProtocolFeatures, uint64_t{0x4228});
    std::array<int, 2> ends{};
    SystemCall("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
    const UniqueFd theirs(ends[0]);
    slave_.reset(ends[1]);
    carry_(VhostRequest::kSetSlaveRequestFd, {}, true, theirs.get());
    Ask(VhostRequest::kSetFeatures, uint64_t{1} << 32 | 1 << 15 | 1 << 5);
    SetMemory(kMemorySize);
    for (const uint32_t queue : {NetBackend::kRxQueue, NetBackend::kTxQueue}) SetUpQueue(queue);
    for (uint16_t i = 0; i < kQueueSize; ++i) Offer(NetBackend::kRxQueue, i, kBufferSize, true);
  }
  void SetMemory(uint64_t claimed_size, uint64_t file_offset = 0) {
    struct {
      uint32_t count = 1, padding = 0;
      MemoryRegion region;
    } table;
    table.region = {kGuestBase, claimed_size, 0, file_offset};
    Ask(VhostRequest::kSetMemTable, table, true, memory_fd_.get());
  }
  // Truncates the memory that the device uses; afterwards the test must not access the memory
  // either.
  void CutMemory() const { SystemCall("ftruncate", ftruncate(memory_fd_.get(), 0)); }
  void SetUpQueue(uint32_t queue) {
    Ask(VhostRequest::kSetVringNum, VringState{queue, kQueueSize});
    Ask(VhostRequest::kSetVringBase, VringState{queue, 0});
    Ask(VhostRequest::kSetVringAddr,
        VringAddresses{queue, 0, kGuestBase + Descriptors(queue), kGuestBase + UsedRing(queue),
                       kGuestBase + AvailableRing(queue), 0});
    Ask(VhostRequest::kSetVringEnable, VringState{queue, 1});
  }

  // Puts a frame into the transmit ring; Kick() notifies the device.
  void PutFrame(std::span<const std::byte> frame) {
    const auto index = static_cast<uint16_t>(offered_[NetBackend::kTxQueue] % kQueueSize);
    std::memcpy(memory_ + Buffer(NetBackend::kTxQueue, index) + 12, frame.data(), frame.size());
    Offer(NetBackend::kTxQueue, index, static_cast<uint32_t>(12 + frame.size()), false);
  }
  void Kick() { Ask(VhostRequest::kVringKick, VringState{NetBackend::kTxQueue, 0}); }
  void Send(std::span<const std::byte> frame) {
    PutFrame(frame);
    Kick();
  }

  // Returns the frames in the receive ring; their buffers are offered to the device again.
  std::vector<std::vector<std::byte>> TakeFrames() {
    std::vector<std::vector<std::byte>> frames;
    while (seen_used_ != Used(NetBackend::kRxQueue)) {
      std::vector<std::byte> bytes;
      uint16_t left = 1;
      for (bool first = true; left > 0; --left, first = false) {
        const size_t element = UsedRing(0) + 4 + 8 * (seen_used_++ % kQueueSize);
        const auto index = static_cast<uint16_t>(At<uint32_t>(element));
        const std::byte* buffer = memory_ + Buffer(0, index);
        if (first) left = At<uint16_t>(Buffer(0, index) + 10);
        bytes.insert(bytes.end(), buffer, buffer + At<uint32_t>(element + 4));
        Offer(NetBackend::kRxQueue, index, kBufferSize, true);
      }
      frames.emplace_back(bytes.begin() + 12, bytes.end());
    }
    return frames;
  }
  uint16_t Used(uint32_t queue) { return At<uint16_t>(UsedRing(queue) + 2); }
  int slave_channel() const { return slave_.get(); }
  // Receives one request of the device on the slave channel and answers it.
  void AnswerInterrupt() {
    std::array<std::byte, sizeof(VhostHeader) + sizeof(VringState)> request;
    std::vector<UniqueFd> none;
    ReceiveExactly(slave_.get(), std::span(request).first(sizeof(VhostHeader)), none);
    VhostHeader header;
    std::memcpy(&header, request.data(), sizeof header);
    ReceiveExactly(slave_.get(), std::span(request).subspan(sizeof header, header.size), none);
    const uint64_t done = 0;
    SendAll(slave_.get(), EncodeVhost(header.request, kVhostVersion | kVhostReply,
                                      std::as_bytes(std::span(&done, 1))));
  }
  void Offer(uint32_t queue, uint16_t index, uint32_t length, bool writable) {
    const size_t descriptor = Descriptors(queue) + 16U * index;
    At<uint64_t>(descriptor) = kGuestBase + Buffer(queue, index);
    At<uint32_t>(descriptor + 8) = length;
    At<uint16_t>(descriptor + 12) = writable ? 2 : 0;
    OfferHead(queue, index);
  }
  void OfferHead(uint32_t queue, uint16_t head) {
    At<uint16_t>(AvailableRing(queue) + 4 + 2 * (offered_[queue] % kQueueSize)) = head;
    __atomic_store_n(&At<uint16_t>(AvailableRing(queue) + 2), ++offered_[queue], __ATOMIC_RELEASE);
  }
  template <typename T>
  T& At(size_t offset) {
    return *reinterpret_cast<T*>(memory_ + offset);
  }

 private:
  Carry carry_;
  UniqueFd slave_;
  UniqueFd memory_fd_;
  std::byte* memory_ = nullptr;
  std::array<uint16_t, 2> offered_{};
  uint16_t seen_used_ = 0;
};

// The way in which a simulated guest and its calendar exchange times and queue notifications; each
// value adds a feature to the previous value.
enum class FakeSchedule {
  kMessages,      // only messages, like kernels older than 6.12
  kShared,        // the schedule is in memory
  kSharedQueues,  // queue notifications are also in memory, as with patch 0005
  kDoorbells,     // RUN and WAIT are also in memory, as with patch 0010
  kSockets,       // rings of sockets are also in memory, as with patch 0011
};

class FakeGuest {
 public:
  using Script = std::function<void(FakeGuest&)>;

  FakeGuest(FakeSchedule schedule, Script script)
      : shared_(schedule != FakeSchedule::kMessages),
        shares_queues_(schedule == FakeSchedule::kSharedQueues ||
                       schedule >= FakeSchedule::kDoorbells),
        has_doorbell_(schedule >= FakeSchedule::kDoorbells),
        has_sockets_(schedule == FakeSchedule::kSockets),
        script_(std::move(script)) {}
  FakeGuest(const FakeGuest&) = delete;
  FakeGuest& operator=(const FakeGuest&) = delete;
  // Waits for the end of the script; the calendar's destruction ends the script. Afterwards the
  // test can read the variables that the script wrote.
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  ~FakeGuest() {
    Join();
    if (schedule_ != nullptr) munmap(schedule_, kScheduleSize);
  }

  // Returns the launcher for Calendar::AddGuest(). The calendar must be destroyed before this
  // object.
  Guest::Launcher Launcher() {
    return [this](const GuestEndpoints& endpoints) {
      endpoints_ = endpoints;
      thread_ = std::thread([this] { RunScript(); });
      return GuestProcess();
    };
  }

  // --- Functions for the script.
  //
  // Sends kStart and waits until the calendar lets the guest boot.
  void Start() {
    calendar_ = ConnectTo(endpoints_.folder / endpoints_.calendar);
    Send(TimeTravelOp::kStart, endpoints_.id);
    std::vector<UniqueFd> descriptors;
    slot_ = Receive(&descriptors).time;
    if (!shared_) return;
    schedule_fd_ = std::move(descriptors.at(0));
    void* mapping =
        mmap(nullptr, kScheduleSize, PROT_READ | PROT_WRITE, MAP_SHARED, schedule_fd_.get(), 0);
    schedule_ = static_cast<std::byte*>(mapping);
    Word<uint32_t>(kClients + kClient * slot_) |= Capabilities();
    bell_ = kClients + kClient * Word<uint16_t>(kMaxClients) + kBell * slot_;
  }
  // Connects to the devices' socket `count` times and sets up the devices 0 ... count - 1.
  void ConnectDevices(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      auto socket = std::make_shared<UniqueFd>(ConnectTo(endpoints_.folder / endpoints_.devices));
      devices_.push_back(std::make_unique<FakeDevice>(
          [this, socket, i](VhostRequest request, std::span<const std::byte> payload, bool answer,
                            int descriptor) -> std::vector<std::byte> {
            if (shares_queues_ && request == VhostRequest::kVringKick) {
              KickInMemory(static_cast<uint16_t>(16 * i + NetBackend::kTxQueue));
              return {};
            }
            return Carry(socket->get(), request, payload, answer, descriptor);
          }));
      devices_.back()->SetUp();
    }
  }
  FakeDevice& device(size_t index) { return *devices_.at(index); }
  // Notifies the device of a queue in memory; the queue's number is 16 times the device's number
  // plus the queue's index.
  void KickInMemory(uint16_t queue) {
    uint32_t& count = Word<uint32_t>(kClients + kClient * slot_ + 24);
    if (count < 24) Word<uint16_t>(kClients + kClient * slot_ + 32 + 2 * count) = queue;
    ++count;
    Word<uint64_t>(kFree) = std::min(Word<uint64_t>(kFree), Now() + 1);
  }

  uint64_t Now() { return shared_ ? Word<uint64_t>(kCurrent) : now_; }
  // Advances the clock as a kernel does: at once if the calendar permits the time, otherwise after
  // waiting until the calendar lets the guest run.
  void SleepUntil(uint64_t time) {
    while (!AdvanceIfFree(time)) {
      Request(time);
      if (Wait() >= time) return;
    }
  }
  // Sets the clock and returns true if the calendar permits the time without waiting; returns false
  // otherwise.
  bool AdvanceIfFree(uint64_t time) {
    const uint64_t free_until = shared_ ? Word<uint64_t>(kFree) : free_until_;
    if (time >= free_until) return false;
    SetClock(time);
    return true;
  }
  void SetClock(uint64_t time) {
    if (shared_) {
      __atomic_store_n(&Word<uint64_t>(kCurrent), time, __ATOMIC_RELEASE);
    } else {
      now_ = time;
    }
  }
  void Request(uint64_t time) {
    if (!shared_) {
      Call(TimeTravelOp::kRequest, time);
      return;
    }
    Word<uint64_t>(kClients + kClient * slot_ + 8) = time;
    __atomic_or_fetch(&Word<uint32_t>(kClients + kClient * slot_ + 4), 1U, __ATOMIC_RELEASE);
  }
  // Waits until the calendar lets the guest run; returns the time. Answers interrupts that arrive
  // during the wait; each interrupt makes the guest request to run at once.
  uint64_t Wait() {
    free_until_ = 0;
    if (has_doorbell_) {
      TellWait();
    } else if (shared_) {
      Send(TimeTravelOp::kWait, 0);
    } else {
      Call(TimeTravelOp::kWait, 0);
    }
    return AwaitTurn();
  }
  // Waits until the calendar lets the guest run: the second part of Wait().
  uint64_t AwaitTurn() {
    std::vector<pollfd> entries{{calendar_.get(), POLLIN, 0}};
    for (const auto& device : devices_) entries.push_back({device->slave_channel(), POLLIN, 0});
    for (;;) {
      if (has_doorbell_ && AwaitRun()) {
        TakeCalls();
        return now_ = Word<uint64_t>(kCurrent);
      }
      SystemCall("poll", poll(entries.data(), entries.size(), has_doorbell_ ? 0 : -1));
      for (size_t i = 1; i < entries.size(); ++i) {
        if (entries[i].revents == 0) continue;
        Request(shared_ ? Now() : Call(TimeTravelOp::kGet, 0));
        devices_[i - 1]->AnswerInterrupt();
      }
      if (entries[0].revents == 0) continue;
      const TimeTravelMessage message = Receive();
      if (Serve(message)) {
        TakeCalls();
        return now_ = message.time;
      }
    }
  }
  // Begins to wait, for a guest with a doorbell: counts the wait in memory, and sends a message if
  // the calendar waits for messages. Returns the number of waits.
  uint32_t TellWait() {
    const uint32_t waits = ++Word<uint32_t>(bell_ + kWaits);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (Word<uint32_t>(bell_ + kController) == 1) {
      syscall(SYS_futex, &Word<uint32_t>(bell_ + kWaits), FUTEX_WAKE, 1, nullptr, nullptr, 0);
    } else {
      Send(TimeTravelOp::kWait, waits);
    }
    return waits;
  }
  // Sleeps for at most a millisecond until the calendar lets the guest run; returns whether it has.
  bool AwaitRun() {
    uint32_t& run = Word<uint32_t>(bell_);
    const timespec soon{0, 1'000'000};
    syscall(SYS_futex, &run, FUTEX_WAIT, runs_, &soon, nullptr, 0);
    const uint32_t before = std::exchange(runs_, __atomic_load_n(&run, __ATOMIC_ACQUIRE));
    return before != runs_;
  }
  // Sends a message and returns the time in the calendar's answer.
  uint64_t Call(TimeTravelOp op, uint64_t time) {
    const uint32_t sequence = sequence_;
    Send(op, time);
    for (;;) {
      const TimeTravelMessage answer = Receive();
      if (answer.op == 0 && answer.sequence == sequence) return answer.time;
      Serve(answer);
    }
  }
  void Send(TimeTravelOp op, uint64_t time) {
    const TimeTravelMessage message{static_cast<uint32_t>(op), sequence_++, time};
    SendRaw(std::as_bytes(std::span(&message, 1)));
  }
  // Returns the queues of all interrupts that the calendar has passed with RUN.
  const std::vector<uint16_t>& calls() const { return calls_; }
  // Returns the rings of the guest's sockets. The result is valid only if offered_rings() returns
  // true.
  std::byte* rings() { return schedule_ + kRings + SocketRing::kSize * slot_; }
  bool offered_rings() { return (Word<uint32_t>(kClients) & 8) != 0; }
  // Returns the descriptor of the schedule's memory.
  int schedule_fd() const { return schedule_fd_.get(); }
  template <typename T>
  T& Word(size_t offset) {
    return *reinterpret_cast<T*>(schedule_ + offset);
  }
  static constexpr size_t kMaxClients = 26;
  void SendRaw(std::span<const std::byte> bytes) { SendAll(calendar_.get(), bytes); }
  void Close() { calendar_.reset(); }
  // Calls Wait() repeatedly, until Wait() throws because the calendar has closed the connection.
  void AwaitEnd() {
    for (;;) Wait();
  }

 private:
  uint32_t Capabilities() const {
    if (!has_doorbell_) return shares_queues_ ? 3 : 1;
    return has_sockets_ ? 15 : 7;
  }
  void TakeCalls() {
    if (!shares_queues_) return;
    uint32_t& count = Word<uint32_t>(kClients + kClient * slot_ + 28);
    for (uint32_t i = 0; i < count; ++i) {
      calls_.push_back(Word<uint16_t>(kClients + kClient * slot_ + 80 + 2 * i));
    }
    count = 0;
  }

  // The offsets and sizes in struct um_timetravel_schedshm.
  static constexpr size_t kFree = 8, kCurrent = 16, kClients = 4096, kClient = 128;
  static constexpr size_t kBell = 128, kController = 4, kWaits = 64;
  // The offset of the rings: the first page after the doorbells of a few guests.
  static constexpr size_t kRings = 8192;
  // The size of the mapping; the calendar's memory may be smaller, and only that memory may be
  // accessed.
  static constexpr size_t kScheduleSize = kRings + 8 * SocketRing::kSize;

  void RunScript() {
    try {
      script_(*this);
    } catch (const CalendarGone&) {
    } catch (const Error&) {  // the calendar has ended, so sending or connecting failed
    }
    devices_.clear();
    calendar_.reset();
  }
  TimeTravelMessage Receive(std::vector<UniqueFd>* descriptors = nullptr) {
    std::array<std::byte, sizeof(TimeTravelMessage)> bytes;
    std::vector<UniqueFd> unwanted;
    ReceiveExactly(calendar_.get(), bytes, descriptors != nullptr ? *descriptors : unwanted);
    TimeTravelMessage message;
    std::memcpy(&message, bytes.data(), sizeof message);
    return message;
  }
  // Handles a message of the calendar; returns true if the message is RUN.
  bool Serve(const TimeTravelMessage& message) {
    const auto op = static_cast<TimeTravelOp>(message.op);
    if (op == TimeTravelOp::kFreeUntil) free_until_ = message.time;
    if (shared_ && op == TimeTravelOp::kRun) return true;
    const TimeTravelMessage answer{0, message.sequence, 0};
    SendRaw(std::as_bytes(std::span(&answer, 1)));
    return op == TimeTravelOp::kRun;
  }
  std::vector<std::byte> Carry(int socket, VhostRequest request, std::span<const std::byte> payload,
                               bool answer, int descriptor) {
    // A kernel without a shared schedule reports its time before it notifies the device.
    if (request == VhostRequest::kVringKick && !shared_) Call(TimeTravelOp::kUpdate, now_);
    const auto message = EncodeVhost(static_cast<uint32_t>(request),
                                     kVhostVersion | (answer ? kVhostNeedReply : 0), payload);
    if (descriptor >= 0) {
      SendWithDescriptors(socket, message, std::span(&descriptor, 1));
    } else {
      SendAll(socket, message);
    }
    if (!answer) return {};
    std::vector<UniqueFd> none;
    VhostHeader header;
    std::vector<pollfd> entries{{socket, POLLIN, 0}, {calendar_.get(), POLLIN, 0}};
    while (poll(entries.data(), entries.size(), -1) > 0 && entries[0].revents == 0) {
      Serve(Receive());  // the calendar reduces the time until which the guest may run
    }
    ReceiveExactly(socket, std::as_writable_bytes(std::span(&header, 1)), none);
    std::vector<std::byte> reply(header.size);
    ReceiveExactly(socket, reply, none);
    return reply;
  }

  bool shared_;
  bool shares_queues_;
  bool has_doorbell_;
  bool has_sockets_;
  size_t bell_ = 0;
  uint32_t runs_ = 0;
  std::vector<uint16_t> calls_;
  Script script_;
  GuestEndpoints endpoints_;
  std::thread thread_;
  UniqueFd calendar_;
  UniqueFd schedule_fd_;
  std::byte* schedule_ = nullptr;
  uint64_t slot_ = 0;
  uint64_t now_ = 0;
  uint64_t free_until_ = 0;
  uint32_t sequence_ = 1;
  std::vector<std::unique_ptr<FakeDevice>> devices_;
};

}  // namespace viaduct::guest
