#include "path/engine/loop.h"

#include <algorithm>
#include <future>
#include <span>

#include "base/file.h"
#include "base/wire/ethernet.h"
#include "path/engine/spill_fifo.h"
#include "sys/process/process.h"
#include "sys/process/processor.h"

namespace viaduct::engine {
namespace {

// The number of bursts that one poll reads from a port before other ports are polled.
constexpr int kBurstsPerLook = 4;
// The time before a deadline in which the loop spins instead of sleeping, because a sleep may end
// late by this time.
constexpr Duration kSpin = Duration::Microseconds(50);
// The maximum spinning time before a deadline, for a thread that is pinned to a processor, if its
// sleeps were observed to end later than kSpin.
constexpr Duration kMaxSpin = Duration::Milliseconds(2);
// The time before a deadline in which a spinning loop does not poll descriptors, because a poll
// costs 0.3 us.
constexpr Duration kNoLook = Duration::Microseconds(5);
// The maximum time between two polls of a port, so that its ring does not fill up meanwhile.
constexpr Duration kMaxInterval = Duration::Milliseconds(1);
// If the delay of a path is less than this time, the path's ports are polled constantly, because
// there is no time to wait.
constexpr Duration kMinDelayToSpend = Duration::Microseconds(200);
// The time after the last frame during which a port is still polled periodically.
constexpr Duration kLinger = Duration::Milliseconds(20);
constexpr Duration kStalledInterval = Duration::Milliseconds(1);
// The divisor of the memory limit for disk buffers: the buffers use 1/n of the limit.
constexpr int64_t kShareOfBuffers = 4;
// The frame memory that is allocated before the first frame arrives, in bytes.
constexpr int64_t kPrepared = 16 << 20;
// The maximum plausible sending time; a longer measured time means that this thread was
// interrupted.
constexpr Duration kMaxWayDuration = Duration::Microseconds(4);
constexpr Duration kRetry = Duration::Microseconds(20);
constexpr size_t kMaxPending = 1024;
// The maximum time between a frame's time stamp and its appearance in the ring.
constexpr Duration kStampAhead = Duration::Microseconds(20);

// Returns the approximate minimum time that a frame spends in the path: the maximum delay with
// which the frame may be read.
Duration LeastDelay(const path::Spec& spec) {
  if (!spec.delay.base || spec.reorder) return Duration();
  return *spec.delay.base - spec.delay.jitter.value_or(path::Jitter()).amount * 4;
}

SpinWindow WindowOf(Waiting waiting, bool own_processor) {
  if (waiting == Waiting::kCpuSaving) return {Duration(), Duration()};
  return {kSpin, own_processor ? kMaxSpin : kSpin};
}

// Returns the bytes that the tag of a pair adds to each frame on the link.
int64_t TagBytes(const Pair& pair) {
  const auto tagged = [](const Attachment& end) { return end.vlan || end.mpls; };
  return tagged(pair.a) || tagged(pair.b) ? static_cast<int64_t>(wire::LinkTag::kSize) : 0;
}

}  // namespace

Loop::Loop(const Config& config, const Classifier& classifier, MemoryBudget& budget, Clock& clock)
    : config_(config),
      classifier_(classifier),
      clock_(clock),
      pool_(budget, config.memory, config.frame_bytes),
      disks_(OpenDisks(budget)),
      mapper_(clock),
      first_lane_(2 * config.pairs.size(), kNone),
      window_(WindowOf(config.waiting, !config.cpus.empty())) {
  if (disks_) waiter_.Listen(disks_->fd(), kDisks);
}

Loop::~Loop() = default;

std::unique_ptr<SpillDisks> Loop::OpenDisks(MemoryBudget& budget) {
  if (config_.spill.empty()) return nullptr;
  size_t queues = 0;  // each pipeline has one queue in its rate stage and one in its delay stage
  for (const Pair& pair : config_.pairs) queues += 4 * (1 + pair.classes.size());
  const auto share = config_.memory / kShareOfBuffers / config_.threads;
  const auto sizes = SpillDisks::SizesFor(share, queues);
  return std::make_unique<SpillDisks>(config_.spill, sizes.block_bytes, sizes.blocks, budget);
}

void Loop::AddReceiver(size_t port, io::AnyPort* from) {
  receivers_.emplace_back();
  receivers_.back().port = port;
  receivers_.back().from = from;
  receivers_.back().searched = clock_.Now();
  poll_schedule_.Resize(receivers_.size());
  for (uint32_t i = 0; i < receivers_.size(); ++i) poll_schedule_.Set(i, Instant());
}

void Loop::AddSender(size_t port, io::AnyPort* to) {
  senders_.emplace_back();
  senders_.back().port = port;
  senders_.back().to = to;
  senders_.back().pending.reserve(kMaxPending + kBurst);
}

void Loop::AddPipeline(size_t pair, size_t class_index, Direction direction,
                       std::shared_ptr<path::Nat> nat, uint32_t index) {
  const Pair& entry = config_.pairs[pair];
  const bool up = direction == Direction::kUp;
  const auto place = [](const auto& sides, size_t port) {
    const auto found = std::find_if(sides.begin(), sides.end(),
                                    [port](const auto& side) { return side.port == port; });
    return static_cast<uint32_t>(found - sides.begin());
  };
  const Class* const named = class_index == 0 ? nullptr : &entry.classes[class_index - 1];
  const path::Spec& spec =
      named == nullptr ? (up ? entry.up : entry.down) : (up ? named->up : named->down);
  Lane lane;
  lane.pair = pair;
  lane.class_index = class_index;
  lane.direction = direction;
  lane.receiver = place(receivers_, up ? entry.a.port : entry.b.port);
  lane.sender = place(senders_, up ? entry.b.port : entry.a.port);
  path::PipelineOptions options;
  options.seed = config_.seed;
  options.name = PipelineName(entry.name, named == nullptr ? "" : named->name, direction);
  options.pair = entry.name;
  options.read_file = ReadRegularFile;
  options.max_packet = senders_[lane.sender].to->Mtu() + wire::EthernetHeader::kSize;
  options.tag_bytes = TagBytes(entry);
  if (disks_) {
    options.make_fifo = [this] {
      return std::make_unique<SpillFifo>(pool_, *disks_, config_.memory);
    };
  }
  const auto id = static_cast<uint32_t>(lanes_.size());
  options.links = &links_;
  options.nat = std::move(nat);
  options.direction = direction;
  options.is_class = class_index > 0;
  options.woken = [this, id] { MarkDirty(id); };
  const std::string name = options.name;
  lane.pipeline = std::make_unique<path::Pipeline>(spec, pool_, std::move(options));
  lane.traces = std::make_unique<path::FateTraces>();
  for (const Trace& trace : traces_) {
    lane.traces->Add({trace.format, name, index, pool_, clock_.Realtime() - clock_.Now(),
                      [file = trace.file](std::string_view piece) { file->Write(piece); }});
  }
  if (!traces_.empty()) lane.pipeline->SetObserver(lane.traces.get());
  if (class_index == 0) first_lane_[2 * pair + (up ? 0 : 1)] = id;
  receivers_[lane.receiver].lanes.push_back(id);
  lanes_.push_back(std::move(lane));
  events_.Resize(lanes_.size());
  UpdateInterval(receivers_[lanes_[id].receiver]);
}

void Loop::Begin(Instant now) {
  for (Lane& lane : lanes_) {
    lane.traces->Begin(now);
    lane.pipeline->Begin(now);
  }
}

Loop::Lane* Loop::FindLane(size_t pair, size_t class_index, Direction direction) {
  const uint32_t first = first_lane_[2 * pair + (direction == Direction::kUp ? 0 : 1)];
  return first == kNone ? nullptr : &lanes_[first + class_index];
}

void Loop::UpdateInterval(Receiver& receiver) {
  Duration least = Duration::Max();
  for (const uint32_t id : receiver.lanes) {
    least = std::min(least, LeastDelay(lanes_[id].pipeline->spec()));
  }
  receiver.interval = least < kMinDelayToSpend || config_.waiting == Waiting::kBusy
                          ? Duration()
                          : std::min((least - kSpin * 2) / 2, kMaxInterval);
}

void Loop::Turn() {
  now_ = clock_.Now();
  retry_ = Instant::Never();
  ++turn_;
  if (disks_) PollDisks();
  while (poll_schedule_.NextInstant() <= now_) {
    const uint32_t next = poll_schedule_.Next();
    if (receivers_[next].turn == turn_) break;
    Poll(next);
  }
  due_.clear();
  while (events_.NextInstant() <= now_ + send_lead_) {
    const uint32_t id = events_.Next();
    events_.Set(id, Instant::Never());
    lanes_[id].due = true;
    due_.push_back(id);
    if (receivers_[lanes_[id].receiver].turn != turn_) Poll(lanes_[id].receiver);
  }
  for (const uint32_t id : due_) Serve(lanes_[id]);
  if (!touched_.empty()) UpdateTouched();
  sent_ = clock_.Now();
  const uint64_t count_before = lateness_.Count();
  for (Sender& sender : senders_) {
    if (!sender.pending.empty()) Flush(sender);
  }
  if (lateness_.Count() == count_before + 1) LearnLead();
}

// Measures the time from the beginning of a turn until a port has sent a single frame. Half of this
// time passes before the kernel's time stamp of the frame (measured); a longer send_lead_ would
// send frames early.
void Loop::LearnLead() {
  if (config_.waiting == Waiting::kCpuSaving) return;
  const Duration way = std::min(sent_ - now_, kMaxWayDuration);
  send_latency_ += (way - send_latency_) / 64;
  send_lead_ = send_latency_ / 2;
}

void Loop::Poll(uint32_t index) {
  Receiver& receiver = receivers_[index];
  if (receiver.group != kNone) return PollGroup(groups_[receiver.group]);
  Read(receiver);
  UpdateTouched();
  PlanNextLook(index, receiver.emptied);
}

void Loop::Read(Receiver& receiver) {
  receiver.turn = turn_;
  receiver.emptied = false;
  Instant looked = clock_.Now();
  for (int i = 0; i < kBurstsPerLook && !receiver.emptied; ++i) {
    receiver.emptied = TakeBurst(receiver, looked);
  }
}

// Returns the instant up to which the ports have been read whose frames may enter a pipeline before
// the frames of `receiver`: its own port, and the ports of all other receivers of its group.
Instant Loop::SearchedOf(const Receiver& receiver) const {
  if (receiver.group == kNone) return receiver.searched;
  Instant searched = Instant::Never();
  for (const uint32_t each : groups_[receiver.group].receivers) {
    searched = std::min(searched, receivers_[each].searched);
  }
  return searched;
}

Instant& Loop::ReachedOf(Lane& lane) {
  const uint32_t group = receivers_[lane.receiver].group;
  return group == kNone ? lane.reached : groups_[group].reached;
}

void Loop::Push(const Arrival& arrival) {
  Lane& lane = lanes_[arrival.lane];
  Instant& reached = ReachedOf(lane);
  reached = std::max(arrival.at, reached);
  if (arrival.frame == path::kNoFrame) {
    return lane.pipeline->Refuse(arrival.bytes, path::Fate::kNoMemory, reached);
  }
  lane.pipeline->Push(arrival.frame, arrival.bytes, reached);
  MarkDirty(arrival.lane);
}

void Loop::MarkDirty(uint32_t id) {
  if (lanes_[id].touched) return;
  lanes_[id].touched = true;
  touched_.push_back(id);
}

// Reads a burst of frames from a receiver's port and returns whether the port was empty. A port may
// return fewer frames than it has (if they are long), but not zero while it has frames.
bool Loop::TakeBurst(Receiver& receiver, Instant& looked) {
  const size_t count = receiver.from->Receive(received_);
  if (count == 0) {
    receiver.searched = std::max(receiver.searched, looked);
    return true;
  }
  looked = clock_.Now();
  // The kernel takes the time stamp before the frame appears in the ring, so the stamp may precede
  // the last poll.
  const Instant earliest = receiver.searched - kStampAhead;
  Instant arrived = receiver.searched;
  for (size_t i = 0; i < count; ++i) {
    if (i + 1 < count) __builtin_prefetch(received_[i + 1].bytes.data());
    const Instant stamp = received_[i].received;
    // Frames of one port arrive in the order of its ring, even if the time stamps of two processors
    // contradict it.
    arrived = std::max(
        arrived, stamp == Instant() ? looked : mapper_.Map(stamp, earliest, looked + kStampAhead));
    TakeFrame(receiver, received_[i], arrived);
  }
  receiver.searched = arrived;
  receiver.last_frame = looked;
  return false;
}

void Loop::TakeFrame(Receiver& receiver, const io::ReceivedFrame& received, Instant arrived) {
  const auto take = [&](wire::Bytes frame) {
    const auto match = classifier_.Classify(receiver.port, frame);
    if (!match) {
      ++receiver.unmatched;
      return;
    }
    if (frame.size() > pool_.frame_bytes()) {
      ++receiver.too_long;
      return;
    }
    const Lane& lane = *FindLane(match->pair, match->class_index, match->direction);
    const Arrival arrival{arrived, ++arrivals_, static_cast<uint32_t>(&lane - lanes_.data()),
                          pool_.Add(frame, match->tag).value_or(path::kNoFrame),
                          static_cast<uint32_t>(frame.size())};
    if (receiver.group == kNone) return Push(arrival);
    groups_[receiver.group].arrivals.push_back(arrival);
  };
  if (!splitter_.Split(received, take)) ++receiver.too_long;
}

void Loop::UpdateTouched() {
  for (const uint32_t id : touched_) {
    Lane& lane = lanes_[id];
    lane.touched = false;
    if (!lane.due) PlanNextEvent(lane);
  }
  touched_.clear();
  memory_peak_ = std::max(memory_peak_, pool_.UsedBytes());
}

void Loop::PlanNextEvent(Lane& lane) {
  Instant next = lane.pipeline->NextEvent();
  if (disks_) {
    const bool stalled = lane.pipeline->Stalled();
    stalled_ += static_cast<size_t>(stalled) - static_cast<size_t>(lane.stalled);
    lane.stalled = stalled;
    // The pipeline may also wait for free frame memory, for which there is no event.
    if (stalled) next = std::min(next, now_ + kStalledInterval);
  }
  events_.Set(static_cast<uint32_t>(&lane - lanes_.data()), next);
}

void Loop::PollDisks() {
  if (disks_->Poll() == 0 || stalled_ == 0) return;
  for (uint32_t id = 0; id < lanes_.size(); ++id) {
    if (lanes_[id].stalled) events_.Set(id, now_);
  }
}

void Loop::PlanNextLook(uint32_t index, bool emptied) {
  Receiver& receiver = receivers_[index];
  if (!emptied || config_.waiting == Waiting::kBusy) {
    poll_schedule_.Set(index, now_);
    return;
  }
  const Duration linger = receiver.interval > Duration()        ? kLinger
                          : config_.waiting == Waiting::kHybrid ? kSpin
                                                                : Duration();
  if (now_ - receiver.last_frame < linger) {
    poll_schedule_.Set(index, now_ + receiver.interval);
    return;
  }
  if (receiver.from->fd() < 0) {
    poll_schedule_.Set(index, now_ + kMaxInterval);
    return;
  }
  Listen(index, true);
  poll_schedule_.Set(index, Instant::Never());
}

void Loop::Listen(uint32_t index, bool on) {
  Receiver& receiver = receivers_[index];
  if (receiver.listened == on) return;
  receiver.listened = on;
  if (on) {
    waiter_.Listen(receiver.from->fd(), index);
    ++listened_;
  } else {
    waiter_.Ignore(receiver.from->fd());
    --listened_;
  }
}

void Loop::Serve(Lane& lane) {
  Sender& sender = senders_[lane.sender];
  const auto id = static_cast<uint32_t>(&lane - lanes_.data());
  // A departure that is due at most send_lead_ after `searched`, the instant up to which the port
  // has been read, is served now; a frame that arrives in between is treated as if it arrived when
  // the departure is due. If there are still frames to read, no departure is served early.
  const Instant searched = SearchedOf(receivers_[lane.receiver]);
  Instant& reached = ReachedOf(lane);
  const Instant next = searched < now_ ? searched : lane.pipeline->NextEvent();
  const Instant until = std::max({searched, reached, next <= now_ + send_lead_ ? next : Instant()});
  std::array<path::Departure, kBurst> departures;
  bool more = !sender.blocked && sender.pending.size() < kMaxPending;
  while (more) {
    const size_t count = lane.pipeline->Pop(until, departures);
    for (size_t i = 0; i < count; ++i) {
      __builtin_prefetch(pool_.Bytes(departures[i].frame).data());
      sender.pending.push_back({departures[i].frame, id, departures[i].due});
    }
    more = count == departures.size() && sender.pending.size() < kMaxPending;
    reached = until;
  }
  lane.due = false;
  PlanNextEvent(lane);
  if (sender.blocked) events_.Set(id, std::max(events_.At(id), now_ + kRetry));
}

void Loop::Flush(Sender& sender) {
  sender.blocked = false;
  while (sender.first < sender.pending.size() && !sender.blocked) {
    sender.first += FlushBurst(sender);
  }
  if (sender.blocked) {
    retry_ = now_ + kRetry;
    return;
  }
  sender.pending.clear();
  sender.first = 0;
}

size_t Loop::FlushBurst(Sender& sender) {
  const auto burst = std::span(sender.pending)
                         .subspan(sender.first)
                         .first(std::min(kBurst, sender.pending.size() - sender.first));
  std::array<io::FrameToSend, kBurst> frames;
  for (size_t i = 0; i < burst.size(); ++i) frames[i] = pool_.Tagged(burst[i].frame);
  const Instant before = sent_;
  const size_t taken = sender.to->Transmit(std::span(frames).first(burst.size()));
  sent_ = clock_.Now();
  sender.blocked = taken < burst.size();
  // The frames of a burst leave one after another, not all at the beginning of the burst.
  const Duration each = taken == 0 ? Duration() : (sent_ - before) / static_cast<int64_t>(taken);
  std::span<const uint32_t> refused = sender.to->Refused();
  for (size_t i = 0; i < taken; ++i) {
    if (!refused.empty() && refused.front() == i) {
      ++lanes_[burst[i].lane].refused;
      lanes_[burst[i].lane].refused_bytes += pool_.Bytes(burst[i].frame).size();
      refused = refused.subspan(1);
    } else {
      lateness_.Record((before + each * static_cast<int64_t>(i) - burst[i].due).nanoseconds());
    }
    pool_.Free(burst[i].frame);
  }
  return taken;
}

Instant Loop::NextTurn() const {
  return std::min({events_.NextInstant() - send_lead_, poll_schedule_.NextInstant(), retry_});
}

void Loop::Sleep(Duration duration) {
  waited_ = clock_.Now();
  for (const epoll_event& event : waiter_.Sleep(duration)) {
    if (event.data.u64 == sys::HybridWaiter::kWoken) continue;
    if (event.data.u64 == kDisks) {
      retry_ = Instant();  // the next turn is due now
      continue;
    }
    const auto receiver = static_cast<uint32_t>(event.data.u64);
    Listen(receiver, false);
    receivers_[receiver].last_frame = clock_.Now();
    poll_schedule_.Set(receiver, Instant());
  }
}

void Loop::Idle() {
  if (config_.waiting == Waiting::kBusy) return;
  while (!called_.load(std::memory_order_relaxed)) {
    const Instant next = NextTurn();
    const Instant now = clock_.Now();
    // Even if other work is always due, the ports that the loop waits for must be polled.
    if (next <= now && (listened_ == 0 || now - waited_ < kMaxInterval)) return;
    window_.Forget(now);
    const Instant sharp = std::min(events_.NextInstant() - send_lead_, retry_);
    const Instant until = events_.NextInstant() == Instant::Never() && retry_ == Instant::Never()
                              ? poll_schedule_.NextInstant()
                              : std::min(sharp - window_.length(), poll_schedule_.NextInstant());
    if (until > now) {
      Sleep(until == Instant::Never() ? Duration::Max() : until - now);
      window_.Learn(until, clock_.Now());
    } else if (listened_ > 0 && (next <= now || next - now > kNoLook)) {
      Sleep(Duration());
    } else {
      sys::HybridWaiter::Relax();
    }
  }
}

void Loop::Run(int cpu) {
  {
    const MutexLock lock(mutex_);
    running_ = true;
  }
  const sys::TimerSlackScope slack;
  // A real-time scheduling class is never used: the kernel's throttling would stall a spinning
  // thread.
  sys::TakeHighestPriority();
  if (cpu >= 0) sys::BindToProcessor(cpu);
  pool_.Prepare(std::min(kPrepared, config_.memory / 4) / config_.threads);
  while (!stop_.load(std::memory_order_relaxed)) {
    Turn();
    if (called_.load(std::memory_order_acquire)) RunTasks();
    Idle();
  }
  End();
  const MutexLock lock(mutex_);
  running_ = false;
  for (const auto& task : tasks_) task();
  tasks_.clear();
}

void Loop::RunTasks() {
  std::vector<std::function<void()>> tasks;
  {
    const MutexLock lock(mutex_);
    tasks.swap(tasks_);
    called_.store(stop_.load());
  }
  for (const auto& task : tasks) task();
}

void Loop::Stop() {
  stop_ = true;
  called_ = true;
  waiter_.Wake();
}

void Loop::Do(const std::function<void()>& task) {
  std::packaged_task<void()> packaged(task);
  auto done = packaged.get_future();
  {
    const MutexLock lock(mutex_);
    if (running_) {
      tasks_.push_back([&packaged] { packaged(); });
      called_ = true;
      waiter_.Wake();
    } else {
      packaged();
    }
  }
  done.get();
}

void Loop::Change(size_t pair, size_t class_index, Direction direction, const path::Spec& spec) {
  Lane& lane = *FindLane(pair, class_index, direction);
  now_ = clock_.Now();
  ++turn_;
  Poll(lane.receiver);  // the old SPEC applies to frames that arrived before the change
  Instant& reached = ReachedOf(lane);
  const Instant at = std::max(SearchedOf(receivers_[lane.receiver]), reached);
  lane.pipeline->Change(spec, at);
  reached = at;
  PlanNextEvent(lane);
  UpdateInterval(receivers_[lane.receiver]);
  poll_schedule_.Set(lane.receiver, now_);
}

void Loop::ReplacePort(size_t port, io::AnyPort* with) {
  for (uint32_t i = 0; i < receivers_.size(); ++i) {
    if (receivers_[i].port != port) continue;
    Listen(i, false);
    receivers_[i].from = with;
    poll_schedule_.Set(i, Instant());
  }
  for (Sender& sender : senders_) {
    if (sender.port == port) sender.to = with;
  }
}

}  // namespace viaduct::engine
