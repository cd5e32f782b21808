#include "io/threaded_port.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace viaduct::io {
namespace {

// A full super-frame (GSO), with tags.
constexpr size_t kLongestFrame = 65536 + 256;
constexpr int kForever = -1, kPauseMs = 1;
constexpr Duration kDrain = Duration::Milliseconds(10);

size_t BurstBytes(uint32_t mtu) {
  constexpr size_t kHeaders = 64;
  return std::max(kLongestFrame, Burst::kFrames * (size_t{mtu} + kHeaders));
}

// Threads that leave the process's signals to the others.
std::thread StartQuietly(const std::function<void()>& run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread started(run);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

ThreadedPort::ThreadedPort(std::unique_ptr<AnyPort> below)
    : below_(std::move(below)),
      received_(BurstBytes(below_->Mtu())),
      to_send_(BurstBytes(below_->Mtu())),
      ended_(SystemCall("eventfd", eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {
  if (below_->Fd() < 0) throw UsageError("a port that cannot be waited for has no threads");
  received_bell_.Arm();
  receiver_ = StartQuietly([this] { RunReceiver(); });
  sender_ = StartQuietly([this] { RunSender(); });
}

ThreadedPort::~ThreadedPort() {
  ends_ = true;
  eventfd_write(ended_.get(), 1);
  receiver_.join();
  sender_.join();
}

short ThreadedPort::Wait(int fd, short events, int milliseconds) const {
  pollfd both[] = {{fd, events, 0}, {ended_.get(), POLLIN, 0}};
  return poll(both, 2, milliseconds) > 0 ? both[0].revents : short{0};
}

// ---- The user's thread

size_t ThreadedPort::Receive(std::span<ReceivedFrame> frames) {
  if (std::exchange(lends_last_, false)) {
    received_.Release();
    next_ = 0;
    room_bell_.Ring();
  }
  const Burst* burst = received_.Front();
  if (burst == nullptr) {
    received_bell_.Arm();
    burst = received_.Front();
    if (burst == nullptr) return 0;
  }
  const auto rest = burst->frames().subspan(next_);
  const size_t count = std::min(frames.size(), rest.size());
  std::copy_n(rest.begin(), count, frames.begin());
  next_ += count;
  lends_last_ = count == rest.size();
  returned_.fetch_add(count, std::memory_order_relaxed);
  return count;
}

size_t ThreadedPort::Transmit(std::span<const FrameToSend> frames) {
  size_t taken = 0;
  while (taken < frames.size()) {
    Burst* const burst = to_send_.Next();
    if (burst == nullptr) break;
    size_t bytes = 0;
    for (; taken < frames.size(); ++taken) {
      const FrameToSend frame = frames[taken];
      if (frame.size() > kLongestFrame) {
        too_long_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      ReceivedFrame copied;
      copied.bytes = {const_cast<std::byte*>(frame.data()), frame.size()};
      if (!burst->Add(copied)) break;
      bytes += frame.size();
    }
    burst->published = MonotonicClock::Now();
    waiting_.fetch_add(bytes, std::memory_order_relaxed);
    to_send_.Publish();
    to_send_bell_.Ring();
  }
  return taken;
}

size_t ThreadedPort::BytesInFlight() {
  asks_flight_.store(true, std::memory_order_relaxed);
  // In this order: what the thread has sent meanwhile counts in both rather than in none.
  const size_t waiting = waiting_.load(std::memory_order_acquire);
  return waiting + in_flight_.load(std::memory_order_acquire);
}

PortCounters ThreadedPort::Counters() {
  const uint64_t returned = returned_.load(std::memory_order_relaxed);
  PortCounters counters = below_->Counters();
  counters.rx_waiting += counters.rx_frames - returned;
  counters.tx_dropped_error += too_long_.load(std::memory_order_relaxed);
  return counters;
}

std::string ThreadedPort::Description() const {
  return below_->Description() + ", by two threads of its own";
}

Histogram ThreadedPort::SendingDelays() const {
  const MutexLock lock(mutex_);
  return delays_;
}

// ---- The receiving thread

void ThreadedPort::RunReceiver() {
  std::vector<ReceivedFrame> frames(Burst::kFrames);
  while (!ends_) {
    Burst* burst = AwaitBurst();
    if (burst == nullptr) return;
    const size_t count = below_->Receive(frames);
    if (count == 0) {
      const short ready = Wait(below_->Fd(), POLLIN, kForever);
      // The interface is down or gone: that is no reason to turn.
      if ((ready & POLLIN) == 0 && ready != 0) poll(nullptr, 0, kPauseMs);
      continue;
    }
    for (const ReceivedFrame& frame : std::span(frames).first(count)) {
      if (burst->Add(frame)) continue;
      received_.Publish();
      received_bell_.Ring();
      burst = AwaitBurst();
      if (burst == nullptr) return;
      burst->Add(frame);
    }
    received_.Publish();
    received_bell_.Ring();
  }
}

Burst* ThreadedPort::AwaitBurst() {
  while (!ends_) {
    if (Burst* const burst = received_.Next()) return burst;
    room_bell_.Arm();
    if (Burst* const burst = received_.Next()) return burst;
    Wait(room_bell_.Fd(), POLLIN, kForever);
  }
  return nullptr;
}

// ---- The sending thread

void ThreadedPort::RunSender() {
  for (;;) {
    const Burst* const burst = to_send_.Front();
    if (burst == nullptr) {
      if (ends_) return;
      AwaitFrames();
      continue;
    }
    size_t sent = 0;
    if (!Send(*burst, sent)) return;
    size_t bytes = 0;
    for (const ReceivedFrame& frame : burst->frames()) bytes += frame.bytes.size();
    const int64_t delay = (MonotonicClock::Now() - burst->published).nanoseconds();
    {
      const MutexLock lock(mutex_);
      for (size_t i = 0; i < sent; ++i) delays_.Record(delay);
    }
    to_send_.Release();
    LookAtFlight();
    waiting_.fetch_sub(bytes, std::memory_order_release);
  }
}

bool ThreadedPort::Send(const Burst& burst, size_t& sent) {
  std::array<FrameToSend, Burst::kFrames> frames;
  const size_t count = burst.frames().size();
  std::ranges::transform(burst.frames(), frames.begin(),
                         [](const ReceivedFrame& frame) { return FrameToSend(frame.bytes); });
  size_t done = 0;
  std::optional<Instant> last_try;
  while (done < count) {
    const size_t taken = below_->Transmit(std::span(frames).subspan(done, count - done));
    done += taken;
    if (taken > 0) sent += taken - below_->Refused().size();
    if (taken > 0 || done == count) continue;
    if (ends_) {
      const Instant now = MonotonicClock::Now();
      if (!last_try) last_try = now + kDrain;
      if (now >= *last_try) return false;
    }
    pollfd room{below_->TransmitFd(), POLLOUT, 0};
    poll(&room, 1, kPauseMs);
  }
  return true;
}

void ThreadedPort::AwaitFrames() {
  to_send_bell_.Arm();
  if (to_send_.Front() != nullptr || ends_) return;
  const bool looks_again = asks_flight_.load(std::memory_order_relaxed) && in_flight_ > 0;
  Wait(to_send_bell_.Fd(), POLLIN, looks_again ? kPauseMs : kForever);
  LookAtFlight();
}

void ThreadedPort::LookAtFlight() {
  if (!asks_flight_.load(std::memory_order_relaxed)) return;
  in_flight_.store(below_->BytesInFlight(), std::memory_order_release);
}

}  // namespace viaduct::io
