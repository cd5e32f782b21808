#include "guest/virtio/nic.h"

#include <array>
#include <utility>

#include "guest/virtio/guest_socket.h"

namespace viaduct::guest {

Nic::Nic(DeviceHost& host, size_t number, const wire::MacAddress& mac, bool carrier)
    : host_(host), number_(number), mac_(mac), backend_(mac, carrier) {}

void Nic::Connect(UniqueFd connection, std::shared_ptr<embed::LocalStream> stream) {
  connection_ = std::move(connection);
  stream_ = std::move(stream);
}

bool Nic::Receive() {
  return ReceiveBy([this](auto bytes, auto& descriptors) {
    return ReceiveWithDescriptors(connection_.get(), bytes, descriptors);
  });
}

void Nic::ReceiveFromStream() {
  const auto take = [this](auto bytes, auto& descriptors) {
    return stream_->Take(bytes, descriptors);
  };
  while (ReceiveBy(take)) {
  }
}

template <typename Read>
bool Nic::ReceiveBy(Read read) {
  std::vector<UniqueFd> descriptors;
  std::array<std::byte, sizeof(VhostHeader) + kMaxVhostPayload> bytes;
  const size_t length = read(std::span(bytes), descriptors);
  if (length == 0) return false;
  assembler_.Add(std::span(bytes).first(length), std::move(descriptors));
  while (auto message = assembler_.Next()) Serve(*message);
  return true;
}

void Nic::Serve(VhostMessage& message) {
  const auto answer = backend_.Handle(message);
  if (UniqueFd channel = backend_.TakeSlaveChannel()) slave_channel_ = std::move(channel);
  // Reads the frames before the answer is sent, because the answer lets the guest continue, and the
  // limit of the guest's clock depends on the frames.
  if (static_cast<VhostRequest>(message.header.request) == VhostRequest::kVringKick &&
      message.As<VringState>().index == NetBackend::kTxQueue) {
    DrainTransmits();
  }
  if (!answer) return;
  stream_ ? stream_->Answer(*answer) : SendAll(connection_.get(), *answer);
}

void Nic::DrainTransmits() {
  std::vector<std::byte> frame;
  const Instant now = host_.Present();
  while (const auto head = backend_.TakeFrame(frame)) {
    ++counters_.tx_frames;
    counters_.tx_bytes += frame.size();
    sent_.push_back({*head, std::exchange(frame, {})});
    host_.Schedule(now, [this] { HandNext(); });
  }
}

void Nic::HandNext() {
  if (sent_.empty()) return;
  const Sent sent = std::move(sent_.front());
  sent_.pop_front();
  if (transmit_) {
    transmit_(sent.frame, sent.token);
  } else {
    TransmitDone(sent.token);
  }
}

void Nic::HandTransmits() {
  while (!sent_.empty()) HandNext();
}

void Nic::TransmitDone(Token token) {
  backend_.ReturnFrame(token);
  Interrupt(NetBackend::kTxQueue);
}

bool Nic::Deliver(std::span<const std::byte> frame) {
  if (!backend_.ready()) {
    ++counters_.rx_dropped_not_ready;
    return false;
  }
  if (!backend_.PutFrame(frame)) {
    ++counters_.rx_dropped_ring_full;
    return false;
  }
  ++counters_.rx_frames;
  counters_.rx_bytes += frame.size();
  Interrupt(NetBackend::kRxQueue);
  return true;
}

void Nic::SetLink(bool up) {
  backend_.SetLink(up);
  if (backend_.ready()) AskGuest(VhostSlaveRequest::kConfigChange, 0);
}

void Nic::Interrupt(uint32_t queue) {
  if (!backend_.WantsInterrupt(queue)) return;
  if (interrupted_ && host_.InterruptWithRun(number_, queue)) {
    ++counters_.interrupts;
    return;
  }
  AskGuest(VhostSlaveRequest::kVringCall, queue);
  interrupted_ = true;
}

void Nic::AskGuest(VhostSlaveRequest request, uint32_t value) {
  if (!slave_channel_) return;
  ++counters_.interrupts;
  const VringState state{value, 0};
  const auto payload = request == VhostSlaveRequest::kVringCall
                           ? std::as_bytes(std::span(&state, 1))
                           : std::span<const std::byte>();
  host_.Interrupt(slave_channel_.get(), EncodeVhost(static_cast<uint32_t>(request),
                                                    kVhostVersion | kVhostNeedReply, payload));
}

}  // namespace viaduct::guest
