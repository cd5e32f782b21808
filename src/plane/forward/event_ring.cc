#include "plane/forward/event_ring.h"

#include <sys/socket.h>

#include <array>

#include "base/error.h"

namespace viaduct::forward {
namespace {

std::span<Word> Checked(std::span<Word> words) {
  if (words.size() < event_ring::kWords)
    throw UsageError("the shared memory is too small for the events");
  return words;
}

std::span<Word> PlaceOf(std::span<Word> words, uint64_t number) {
  return words.subspan(event_ring::kHeaderWords + 2 * (number % event_ring::kEvents), 2);
}

}  // namespace

EventWriter::EventWriter(std::span<Word> words, int doorbell)
    : words_(Checked(words)), doorbell_(doorbell) {}

bool EventWriter::Write(const Event& event) {
  const uint64_t written = words_[event_ring::kWritten].load(std::memory_order_relaxed);
  if (written - words_[event_ring::kRead].load(std::memory_order_acquire) >= event_ring::kEvents)
    return false;
  const std::span<Word> place = PlaceOf(words_, written);
  place[0].store(event.key, std::memory_order_relaxed);
  place[1].store(event.value, std::memory_order_relaxed);
  words_[event_ring::kWritten].store(written + 1, std::memory_order_release);
  const char ring = 0;
  // send() fails if the reader has not answered for a long time: the socket is then full, and the
  // doorbell is still ringing, so nothing is lost.
  send(doorbell_, &ring, sizeof ring, MSG_DONTWAIT | MSG_NOSIGNAL);
  return true;
}

EventReader::EventReader(std::span<Word> words, int doorbell)
    : words_(Checked(words)), doorbell_(doorbell) {}

bool EventReader::Answer() {
  std::array<char, 4096> rings;  // larger than the number of single bytes that a socket holds
  left_ = event_ring::kEvents;
  return recv(doorbell_, rings.data(), rings.size(), MSG_DONTWAIT) != 0;
}

std::optional<Event> EventReader::Read() {
  const uint64_t number = words_[event_ring::kRead].load(std::memory_order_relaxed);
  if (left_ == 0 || words_[event_ring::kWritten].load(std::memory_order_acquire) == number)
    return std::nullopt;
  --left_;
  const std::span<Word> place = PlaceOf(words_, number);
  const Event event{place[0].load(std::memory_order_relaxed),
                    place[1].load(std::memory_order_relaxed)};
  words_[event_ring::kRead].store(number + 1, std::memory_order_release);
  return event;
}

}  // namespace viaduct::forward
