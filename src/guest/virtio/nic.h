// One network interface of a guest, as the simulation sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "guest/virtio/device_host.h"
#include "guest/virtio/net_backend.h"
#include "guest/virtio/vhost_message.h"

namespace viaduct::guest {

struct NicCounters {
  uint64_t tx_frames = 0, tx_bytes = 0;  // the guest sent
  uint64_t rx_frames = 0, rx_bytes = 0;  // the guest was given
  uint64_t rx_dropped_ring_full = 0;     // the guest has no buffers for the frame
  uint64_t rx_dropped_not_ready = 0;     // its driver has not come up
  uint64_t interrupts = 0;
};

// What the simulation calls, it calls in its events, never while a guest runs; so are all callbacks
// made.
class Nic {
 public:
  // Names a transmitted frame until TransmitDone().
  using Token = uint16_t;
  // A frame that the guest sends at this instant, from the destination MAC on, checksums complete;
  // lent for the call.
  using Transmit = std::function<void(std::span<const std::byte> frame, Token token)>;

  // `number`: of the device on the guest's command line. The host outlives the device.
  Nic(DeviceHost& host, size_t number, const wire::MacAddress& mac, bool carrier);
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  // Set before the guest boots; without it frames are lost.
  void SetTransmit(Transmit transmit) { transmit_ = std::move(transmit); }
  // The device has sent the frame: its buffer goes back to the guest, whose queues go on. Once a
  // token.
  void TransmitDone(Token token);
  // Hands a frame to the guest; false (and counted) when it is lost.
  bool Deliver(std::span<const std::byte> frame);
  // Hands out what the guest has sent up to this instant now, not in an event of its own.
  void HandTransmits();
  // Carrier on or off; the guest is told.
  void SetLink(bool up);

  size_t number() const { return number_; }
  const std::string& name() const { return name_; }  // of its socket
  const wire::MacAddress& mac() const { return mac_; }
  const NicCounters& counters() const { return counters_; }

  // --- For the guest's connections.
  // Takes the connection of the guest's driver. Throws Error for a second one.
  void Connect(UniqueFd connection);
  int connection() const { return connection_.get(); }
  // Serves what the driver has sent, once the connection is readable. False: the driver has closed
  // it, and nothing is left but to Disconnect().
  bool Receive();
  void Disconnect() { connection_.reset(); }
  // Takes the frames of the transmit queue, which go out at the present instant: the guest has said
  // that there are some.
  void DrainTransmits();

 private:
  void Serve(VhostMessage& message);
  void HandNext();
  void Interrupt(uint32_t queue);
  void AskGuest(VhostSlaveRequest request, uint32_t value);

  DeviceHost& host_;
  size_t number_;
  std::string name_;
  wire::MacAddress mac_;
  NetBackend backend_;
  Transmit transmit_;
  struct Sent {
    Token token;
    std::vector<std::byte> frame;
  };
  std::deque<Sent> sent_;  // an event is scheduled for each
  VhostAssembler assembler_;
  UniqueFd connection_;
  UniqueFd slave_channel_;
  bool interrupted_ = false;  // once, by a message
  NicCounters counters_;
};

}  // namespace viaduct::guest
