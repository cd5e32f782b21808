// The simulation's interface to one network interface of a guest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "guest/embed/local_stream.h"
#include "guest/virtio/device_host.h"
#include "guest/virtio/net_backend.h"
#include "guest/virtio/vhost_message.h"

namespace viaduct::guest {

struct NicCounters {
  uint64_t tx_frames = 0, tx_bytes = 0;  // sent by the guest
  uint64_t rx_frames = 0, rx_bytes = 0;  // delivered to the guest
  uint64_t rx_dropped_ring_full = 0;     // the guest has no buffers for the frame
  uint64_t rx_dropped_not_ready = 0;     // the guest's driver is not ready
  uint64_t interrupts = 0;
};

// One network interface of a guest. The simulation must call these functions in its events, never
// while a guest runs; callbacks are made in the same way.
class Nic {
 public:
  // Identifies a transmitted frame until TransmitDone().
  using Token = uint16_t;
  // Receives a frame that the guest sends at this instant, from the destination MAC on, checksums
  // complete; valid during the call.
  using Transmit = std::function<void(std::span<const std::byte> frame, Token token)>;

  // `number`: the device's on the guest's command line. The host must outlive the device.
  Nic(DeviceHost& host, size_t number, const wire::MacAddress& mac, bool carrier);
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  // Sets the handler of sent frames; call it before the guest boots. Without a handler frames are
  // lost.
  void SetTransmit(Transmit transmit) { transmit_ = std::move(transmit); }
  // Reports that the device has sent the frame: its buffer is returned to the guest, whose queues
  // continue. Call it once per token.
  void TransmitDone(Token token);
  // Delivers a frame to the guest; returns false (and counts it) when it is lost.
  bool Deliver(std::span<const std::byte> frame);
  // Passes the frames that the guest has sent up to this instant to the transmit handler now, not
  // in a separate event.
  void HandTransmits();
  // Sets the carrier on or off and notifies the guest.
  void SetLink(bool up);

  size_t number() const { return number_; }
  const wire::MacAddress& mac() const { return mac_; }
  const NicCounters& counters() const { return counters_; }

  // --- Functions for the guest's connections.
  // Takes over the connection of the guest's driver, whose messages are exchanged by `stream` if
  // there is one.
  void Connect(UniqueFd connection, std::shared_ptr<embed::LocalStream> stream = nullptr);
  int connection() const { return connection_.get(); }
  // Handles the driver's messages, once the connection is readable. Returns false if the driver has
  // closed it; then call Disconnect().
  bool Receive();
  // Handles the messages that the driver has sent by the stream, if any.
  void ReceiveFromStream();
  void Disconnect() { connection_.reset(); }
  // Takes the frames of the transmit queue after a notification of the guest; they are sent at the
  // present instant.
  void DrainTransmits();

 private:
  template <typename Read>
  bool ReceiveBy(Read read);
  void Serve(VhostMessage& message);
  void HandNext();
  void Interrupt(uint32_t queue);
  void AskGuest(VhostSlaveRequest request, uint32_t value);

  DeviceHost& host_;
  size_t number_;
  wire::MacAddress mac_;
  NetBackend backend_;
  Transmit transmit_;
  struct Sent {
    Token token;
    std::vector<std::byte> frame;
  };
  std::deque<Sent> sent_;  // each has a scheduled event
  VhostAssembler assembler_;
  UniqueFd connection_;
  std::shared_ptr<embed::LocalStream> stream_;
  UniqueFd slave_channel_;
  bool interrupted_ = false;  // whether the guest was interrupted by a message once
  NicCounters counters_;
};

}  // namespace viaduct::guest
