#include "guest/time/socket_ring.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace viaduct::guest {
namespace {

// The flags of a record.
constexpr uint16_t kZeros = 1;    // the value of UM_TIMETRAVEL_SOCKET_ZEROS
constexpr uint16_t kAbort = 2;    // the value of UM_TIMETRAVEL_SOCKET_ABORT
constexpr uint16_t kMessage = 4;  // the value of UM_TIMETRAVEL_SOCKET_MESSAGE
constexpr uint16_t kPart = 8;     // the value of UM_TIMETRAVEL_SOCKET_PART

constexpr size_t kAlignment = 16;

size_t Aligned(size_t length) { return (length + kAlignment - 1) / kAlignment * kAlignment; }

uint32_t Load(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
void Store(uint32_t& word, uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_RELEASE); }

[[noreturn]] void ThrowCorrupt(const char* what) {
  throw Error(fmt::format("wrote invalid data into the ring of its sockets ({})", what));
}

bool IsEvent(uint16_t code) {
  return code >= static_cast<uint16_t>(SocketEvent::Code::kData) &&
         code <= static_cast<uint16_t>(SocketEvent::Code::kReleased);
}

}  // namespace

struct SocketRing::Control {
  uint32_t operations_head;
  uint32_t events_tail;
  std::array<uint32_t, 14> unused_controller;
  uint32_t operations_tail;
  uint32_t events_head;
  uint32_t starved;
};

// The header of a record, struct um_timetravel_socket_record; the record's payload follows.
struct SocketRing::Header {
  uint16_t code;
  uint16_t flags;
  uint32_t length;
  uint32_t socket;
  uint32_t value;
};

// The metadata of a message, struct um_timetravel_socket_ancillary; the control messages follow.
struct SocketRing::Ancillary {
  uint32_t name_length;
  uint32_t control_length;
  std::array<std::byte, kMaxName> name;
  uint32_t unused;
};

SocketRing::SocketRing(std::byte* memory)
    : control_(reinterpret_cast<Control*>(memory)),
      operations_(memory + kControl),
      events_(memory + kControl + kRing) {
  static_assert(sizeof(Control) <= kControl && sizeof(Header) == kAlignment);
}

uint32_t SocketRing::Room() const {
  const uint32_t used = head_ - Load(control_->operations_tail);
  if (used > kRing) ThrowCorrupt("operations");
  return static_cast<uint32_t>(kRing) - used;
}

void SocketRing::Write(std::span<const std::byte> record) {
  const size_t at = head_ % kRing;
  const size_t first = std::min(record.size(), kRing - at);
  std::memcpy(operations_ + at, record.data(), first);
  std::memcpy(operations_, record.data() + first, record.size() - first);
  head_ += static_cast<uint32_t>(record.size());
  Store(control_->operations_head, head_);
}

void SocketRing::Put(const SocketOperation& operation,
                     std::initializer_list<std::span<const std::byte>> parts) {
  size_t length = 0;
  for (const auto& part : parts) length += part.size();
  if (length > kRing - sizeof(Header)) throw UsageError("too much data for one send to a socket");
  const int flags = (operation.zeros ? kZeros : 0) | (operation.abort ? kAbort : 0) |
                    (operation.message ? kMessage : 0);
  const Header header{static_cast<uint16_t>(operation.code), static_cast<uint16_t>(flags),
                      static_cast<uint32_t>(length), operation.socket, operation.value};
  std::vector<std::byte> record(sizeof header + Aligned(length));
  std::memcpy(record.data(), &header, sizeof header);
  std::byte* end = record.data() + sizeof header;
  for (const auto& part : parts) end = std::copy(part.begin(), part.end(), end);
  if (waiting_.empty() && record.size() <= Room()) {
    Write(record);
  } else {
    waiting_.push_back(std::move(record));
  }
}

bool SocketRing::Refill() {
  bool refilled = false;
  for (uint32_t room = Room(); !waiting_.empty() && waiting_.front().size() <= room;
       room = Room()) {
    Write(waiting_.front());
    waiting_.pop_front();
    refilled = true;
  }
  // Operations that are left in the ring do not require a further run: the guest has requested that
  // run itself, and may be waiting while it carries out the operations, because reading its clock
  // takes virtual time.
  return refilled || Load(control_->starved) != 0;
}

void SocketRing::Read(uint32_t at, std::span<std::byte> bytes) const {
  if (bytes.empty()) return;
  const size_t from = at % kRing;
  const size_t first = std::min(bytes.size(), kRing - from);
  std::memcpy(bytes.data(), events_ + from, first);
  std::memcpy(bytes.data() + first, events_, bytes.size() - first);
}

SocketEvent SocketRing::TakeEvent(const Header& header) const {
  if (!IsEvent(header.code)) ThrowCorrupt("kind of event");
  SocketEvent event;
  event.code = static_cast<SocketEvent::Code>(header.code);
  event.socket = header.socket;
  event.value = header.value;
  event.flags = header.flags;
  if (event.code != SocketEvent::Code::kData) {
    if (header.length != 0) ThrowCorrupt("length of an event");
    return event;
  }
  event.zeros = (header.flags & kZeros) != 0;
  event.message = (header.flags & kMessage) != 0;
  event.part = event.message && (header.flags & kPart) != 0;
  uint32_t at = tail_ + static_cast<uint32_t>(sizeof header);
  uint32_t left = header.length;
  const auto read = [&](std::span<std::byte> bytes) {
    if (bytes.size() > left) ThrowCorrupt("length of data");
    Read(at, bytes);
    at += static_cast<uint32_t>(bytes.size());
    left -= static_cast<uint32_t>(bytes.size());
  };
  if (header.value > kMaxPiece) ThrowCorrupt("length of data");
  event.bytes.resize(event.zeros ? 0 : header.value);
  read(event.bytes);
  if (event.message) {
    Ancillary ancillary;
    read(std::as_writable_bytes(std::span(&ancillary, 1)));
    if (ancillary.name_length > kMaxName || ancillary.control_length > kMaxControl)
      ThrowCorrupt("length of ancillary data");
    event.name.assign(ancillary.name.begin(), ancillary.name.begin() + ancillary.name_length);
    event.control.resize(ancillary.control_length);
    read(event.control);
  }
  if (left != 0) ThrowCorrupt("length of data");
  return event;
}

void SocketRing::Take(const std::function<void(SocketEvent)>& each) {
  const uint32_t head = Load(control_->events_head);
  if (head == tail_) return;
  if (head - tail_ > kRing || head % kAlignment != 0) ThrowCorrupt("events");
  while (tail_ != head) {
    Header header;
    Read(tail_, std::as_writable_bytes(std::span(&header, 1)));
    const size_t left = head - tail_ - sizeof header;
    if (header.length > kRing || Aligned(header.length) > left) ThrowCorrupt("length");
    SocketEvent event = TakeEvent(header);
    tail_ += static_cast<uint32_t>(sizeof header + Aligned(header.length));
    each(std::move(event));
  }
  Store(control_->events_tail, tail_);
}

}  // namespace viaduct::guest
