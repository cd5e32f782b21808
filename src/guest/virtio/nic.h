// The interface between the simulation and one network interface of a guest.
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
  uint64_t tx_frames = 0, tx_bytes = 0;  // frames sent by the guest
  uint64_t rx_frames = 0, rx_bytes = 0;  // frames delivered to the guest
  uint64_t rx_dropped_ring_full = 0;     // frames for which the guest has no buffers
  uint64_t rx_dropped_not_ready = 0;     // frames before the guest's driver is ready
  uint64_t interrupts = 0;
};

// One network interface of a guest. The simulation must call the functions in its events, never
// while a guest runs; callbacks are called only in events, too.
class Nic {
 public:
  // A number that identifies a transmitted frame until TransmitDone().
  using Token = uint16_t;
  // A function that receives a frame at the instant at which the guest sends it: from the
  // destination MAC address on, with complete checksums. The frame is valid during the call.
  using Transmit = std::function<void(std::span<const std::byte> frame, Token token)>;

  // `number`: the number of the device on the guest's command line. The host must outlive the
  // device.
  Nic(DeviceHost& host, size_t number, const wire::MacAddress& mac, bool carrier);
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  // Sets the function that receives sent frames; must be called before the guest boots. Without
  // such a function frames are lost.
  void SetTransmit(Transmit transmit) { transmit_ = std::move(transmit); }
  // Reports that the simulation has sent the frame: the frame's buffer is returned to the guest,
  // whose queues continue. Must be called once for each sent frame.
  void TransmitDone(Token token);
  // Delivers a frame to the guest; returns false and counts the frame as dropped if the frame is
  // lost.
  bool Deliver(std::span<const std::byte> frame);
  // Passes the frames that the guest has sent up to the present instant to the function of
  // SetTransmit() at once, instead of in separate events.
  void HandTransmits();
  // Sets the carrier on or off and notifies the guest.
  void SetLink(bool up);

  size_t number() const { return number_; }
  const wire::MacAddress& mac() const { return mac_; }
  const NicCounters& counters() const { return counters_; }

  // --- Functions for the guest's connections.
  //
  // Takes over the connection of the guest's driver. If `stream` is not empty, messages are
  // exchanged through the stream.
  void Connect(UniqueFd connection, std::shared_ptr<embed::LocalStream> stream = nullptr);
  int connection() const { return connection_.get(); }
  // Handles the driver's messages; call this function when the connection is readable. Returns
  // false if the driver has closed the connection; then call Disconnect().
  bool Receive();
  // Handles the messages that the driver has sent through the stream, if any.
  void ReceiveFromStream();
  void Disconnect() { connection_.reset(); }
  // Takes the frames from the transmit queue, after the guest has notified the device of them; the
  // frames are sent at the present instant.
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
  std::deque<Sent> sent_;  // sent frames, each with a scheduled event
  VhostAssembler assembler_;
  UniqueFd connection_;
  std::shared_ptr<embed::LocalStream> stream_;
  UniqueFd slave_channel_;
  bool interrupted_ = false;  // whether a message has interrupted the guest before
  NicCounters counters_;
};

}  // namespace viaduct::guest
