// A port whose system calls are made by two threads of its own, one that receives and one that
// sends: what it gives and takes is bursts in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "base/histogram.h"
#include "base/mutex.h"
#include "io/burst_ring.h"
#include "io/port.h"

namespace viaduct::io {

// - One thread calls Receive(), the same or another Transmit() and BytesInFlight(). Every frame is
//   copied once in each direction.
// - While nobody takes frames, they wait in the port below, which counts what it has no room for.
// - What Transmit() has taken may still be refused: it is counted then, but is not in Refused().
// - At its end frames that were taken are sent as far as the port below takes them within 10 ms.
class ThreadedPort final : public AnyPort {
 public:
  // `below`: it lets one thread receive while another sends (RingPort, XdpPort), and has a Fd().
  // Throws SystemError, UsageError.
  explicit ThreadedPort(std::unique_ptr<AnyPort> below);
  ~ThreadedPort() override;
  ThreadedPort(const ThreadedPort&) = delete;
  ThreadedPort& operator=(const ThreadedPort&) = delete;

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  // What waits here counts, too.
  size_t BytesInFlight() override;
  int Fd() override { return received_bell_.Fd(); }
  PortCounters Counters() override;  // any thread
  uint32_t Mtu() const override { return below_->Mtu(); }
  bool Up() override { return below_->Up(); }
  std::string Description() const override;

  // How long frames waited from Transmit() until the port below had taken them, nanoseconds. Any
  // thread.
  Histogram SendingDelays() const;

 private:
  void RunReceiver();
  void RunSender();
  // Waits until the descriptor is ready, so long at most, or the end has come. Returns what is
  // ready.
  short Wait(int fd, short events, int milliseconds) const;
  // The receiving thread's: an empty burst, once there is one; none: it shall end.
  Burst* AwaitBurst();
  // The sending thread's: sends a burst; `sent` is how many frames were not refused. False: it
  // shall end, and not all could be sent.
  bool Send(const Burst& burst, size_t& sent);
  void AwaitFrames();
  void LookAtFlight();

  std::unique_ptr<AnyPort> below_;
  std::atomic<bool> ends_ = false;

  BurstRing received_, to_send_;
  UniqueFd ended_;           // readable from the end on
  Doorbell received_bell_;   // wakes the user: there are frames
  Doorbell room_bell_;       // wakes the receiving thread: a burst has been read
  Doorbell to_send_bell_;    // wakes the sending thread
  size_t next_ = 0;          // frames of received_.Front() that have been handed out
  bool lends_last_ = false;  // received_.Front() has been handed out as a whole

  std::atomic<bool> asks_flight_ = false;  // BytesInFlight() is called
  std::atomic<size_t> waiting_ = 0;        // bytes in to_send_
  std::atomic<size_t> in_flight_ = 0;      // below_->BytesInFlight()
  std::atomic<uint64_t> too_long_ = 0;
  std::atomic<uint64_t> returned_ = 0;  // frames, by Receive()

  mutable Mutex mutex_;
  Histogram delays_ VIADUCT_GUARDED_BY(mutex_);

  std::thread receiver_, sender_;  // last: they use the others
};

}  // namespace viaduct::io
