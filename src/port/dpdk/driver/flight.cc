#include "port/dpdk/driver/flight.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace viaduct::dpdk {

RingFlight::RingFlight(int socket, uint32_t slots, size_t send_buffer)
    : socket_(socket),
      slots_(slots),
      room_(slots),
      log_(send_buffer, io::FlightLog::Source::kRing) {}

bool RingFlight::Push() {
  if (unsent_frames_.load(kRelaxed) == 0) return true;
  // The function sendto() succeeds only if all frames of the ring were sent (tpacket_snd() in
  // net/packet/af_packet.c).
  if (sendto(socket_, nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0) return false;
  Set(unsent_frames_, 0);
  Set(unsent_bytes_, 0);
  return true;
}

size_t RingFlight::Memory() const {
  int memory = 0;
  if (ioctl(socket_, SIOCOUTQ, &memory) != 0) return 0;
  return static_cast<size_t>(std::max(memory, 0));
}

uint32_t RingFlight::Room(size_t wanted) {
  if (room_ >= wanted) return room_;
  Push();
  const size_t busy = Memory() / io::FlightLog::kSmallest + unsent_frames_.load(kRelaxed);
  room_ = busy >= slots_ ? 0 : slots_ - static_cast<uint32_t>(busy);
  return room_;
}

size_t RingFlight::Update() {
  // While frames in the ring are unsent, it is not known which frames the kernel's value SIOCOUTQ
  // covers.
  if (Push()) in_flight_ = log_.Update(Memory());
  return in_flight_;
}

}  // namespace viaduct::dpdk
