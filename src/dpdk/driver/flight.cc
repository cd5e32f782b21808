#include "dpdk/driver/flight.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace viaduct::dpdk {

RingFlight::RingFlight(int socket, uint32_t slots, size_t send_buffer)
    : socket_(socket), slots_(slots), log_(send_buffer, io::FlightLog::Source::kRing) {}

size_t RingFlight::Push() {
  // It returns when all of the ring was sent (tpacket_snd() in net/packet/af_packet.c), or fails.
  if (unsent_ > 0 && sendto(socket_, nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) unsent_ = 0;
  int memory = 0;
  if (ioctl(socket_, SIOCOUTQ, &memory) != 0) memory = 0;
  return static_cast<size_t>(std::max(memory, 0));
}

uint32_t RingFlight::Room() {
  const size_t busy = Push() / io::FlightLog::kSmallest + unsent_;
  return busy >= slots_ ? 0 : slots_ - static_cast<uint32_t>(busy);
}

size_t RingFlight::Update() { return log_.Update(Push()); }

}  // namespace viaduct::dpdk
