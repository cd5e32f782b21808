// The guest's end of the rings of its sockets for tests, which works as in patch 0011.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "guest/time/socket_ring.h"

namespace viaduct::guest {

class SocketRingGuest {
 public:
  // The header of a record: struct um_timetravel_socket_record.
  struct Record {
    uint16_t code = 0;
    uint16_t flags = 0;
    uint32_t length = 0;  // bytes of the payload
    uint32_t socket = 0;
    uint32_t value = 0;
  };

  explicit SocketRingGuest(std::byte* memory) : memory_(memory) {}

  // Removes the operations from the ring. Returns each operation as text:
  // "CODE socket NUMBER value VALUE[ zeros][ abort][: PAYLOAD]".
  std::vector<std::string> TakeOperations() {
    std::vector<std::string> taken;
    while (operations_tail_ != Load(0)) {
      const Record record = RecordAt(operations_tail_);
      std::string text = std::to_string(record.code) + " socket " + std::to_string(record.socket) +
                         " value " + std::to_string(record.value);
      if ((record.flags & 1) != 0) text += " zeros";
      if ((record.flags & 2) != 0) text += " abort";
      if (record.length > 0) text += ": ";
      for (uint32_t i = 0; i < record.length; ++i)
        text += static_cast<char>(operations()[(operations_tail_ + 16 + i) % SocketRing::kRing]);
      taken.push_back(text);
      operations_tail_ += 16 + (record.length + 15) / 16 * 16;
      SetOperationsTail(operations_tail_);
    }
    return taken;
  }
  // Puts an event into the ring; the length of the payload may differ from the length in the
  // record.
  void PutEvent(const Record& record, std::string_view payload = {}) {
    std::string bytes(16 + (payload.size() + 15) / 16 * 16, '\0');
    std::memcpy(bytes.data(), &record, sizeof record);
    payload.copy(bytes.data() + 16, payload.size());
    for (const char byte : bytes)
      operations()[SocketRing::kRing + events_head_++ % SocketRing::kRing] =
          static_cast<std::byte>(byte);
    SetEventsHead(events_head_);
  }
  void SetOperationsTail(uint32_t tail) { Store(64, tail); }
  void SetEventsHead(uint32_t head) { Store(68, head); }
  void SetStarved(bool starved) { Store(72, starved ? 1 : 0); }

 private:
  std::byte* operations() const { return memory_ + SocketRing::kControl; }
  Record RecordAt(uint32_t at) const {
    Record record;
    std::memcpy(&record, operations() + at % SocketRing::kRing, sizeof record);
    return record;
  }
  uint32_t Load(size_t offset) const {
    return __atomic_load_n(reinterpret_cast<uint32_t*>(memory_ + offset), __ATOMIC_ACQUIRE);
  }
  void Store(size_t offset, uint32_t value) {
    __atomic_store_n(reinterpret_cast<uint32_t*>(memory_ + offset), value, __ATOMIC_RELEASE);
  }

  std::byte* memory_;
  uint32_t operations_tail_ = 0;
  uint32_t events_head_ = 0;
};

}  // namespace viaduct::guest
