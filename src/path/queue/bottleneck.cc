#include "path/queue/bottleneck.h"

#include <algorithm>

namespace viaduct::path {

Bottleneck::Bottleneck(std::unique_ptr<QueueDiscipline> queue, std::unique_ptr<RateServer> link)
    : link_(std::move(link)) {
  queues_.push_back(std::move(queue));
}

bool Bottleneck::Waiting() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& queue) { return !queue->Empty(); });
}

void Bottleneck::Become(State state, Instant next) {
  state_ = state;
  next_ = next;
}

// Passes the link's rate to the newest queue. A rate of zero is ignored: a stopped link keeps its
// buffer size.
void Bottleneck::TellRate(Instant now) {
  const int64_t rate = link_->RateAt(now);
  if (rate == rate_ || rate <= 0) return;
  rate_ = rate;
  queues_.back()->SetRate(rate);
}

void Bottleneck::Begin(Instant now) {
  if (!begun_) link_->Begin(now);
  begun_ = true;
}

void Bottleneck::Push(Packet packet, Instant now, DropSink& drops) {
  Begin(now);
  TellRate(now);
  queues_.back()->Enqueue(packet, now, drops);
  if (state_ != State::kIdle || !Waiting()) return;
  Become(State::kStarting, link_->StartIdle(now));
  if (next_ <= now) StartSending(drops);
}

std::optional<Packet> Bottleneck::Pop(Instant now, DropSink& drops) {
  if (state_ == State::kStarting && next_ <= now) StartSending(drops);
  if (state_ != State::kSending || next_ > now) return std::nullopt;
  Packet sent = sending_;
  sent.ready = next_;
  if (Waiting()) {
    // A new link that was set during a transmission on the old link has been idle until now.
    Become(State::kStarting, fresh_ ? link_->StartIdle(next_) : link_->StartNext(next_));
    if (next_ <= now) StartSending(drops);
  } else {
    Become(State::kIdle, Instant::Never());
  }
  fresh_ = false;
  return sent;
}

void Bottleneck::StartSending(DropSink& drops) {
  while (true) {
    QueueDiscipline& queue = *queues_.front();
    const auto packet = queue.Dequeue(next_, drops);
    if (packet) {
      sending_ = *packet;
      return Become(State::kSending, link_->Send(next_, packet->bytes));
    }
    if (!queue.Empty()) return;  // the next packet is still being read from disk
    if (queues_.size() == 1) return Become(State::kIdle, Instant::Never());
    queues_.pop_front();
  }
}

void Bottleneck::ChangeLink(std::unique_ptr<RateServer> link, Instant now) {
  link_ = std::move(link);
  link_->Begin(now);
  begun_ = true;
  fresh_ = state_ == State::kSending;
  if (state_ == State::kStarting) next_ = link_->StartIdle(now);
  // A packet that the old link would never have finished sending is sent over the new link.
  if (state_ == State::kSending && next_ == Instant::Never()) {
    const Instant start = link_->StartIdle(now);
    fresh_ = false;
    next_ = start == Instant::Never() ? start : link_->Send(start, sending_.bytes);
  }
}

void Bottleneck::ChangeQueue(std::unique_ptr<QueueDiscipline> queue, Instant now) {
  std::erase_if(queues_, [](const auto& old) { return old->Empty(); });
  queues_.push_back(std::move(queue));
  rate_ = 0;
  TellRate(now);
}

uint64_t Bottleneck::packets() const {
  uint64_t packets = state_ == State::kSending ? 1 : 0;
  for (const auto& queue : queues_) packets += queue->packets();
  return packets;
}

uint64_t Bottleneck::bytes() const {
  uint64_t bytes = state_ == State::kSending ? sending_.bytes : 0;
  for (const auto& queue : queues_) bytes += queue->bytes();
  return bytes;
}

}  // namespace viaduct::path
