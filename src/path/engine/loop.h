// One thread's share of an engine: the ports it receives from, the ports it sends to, and the
// pipelines between them.
//
// Time: a frame's arrival instant is the kernel's time stamp, and a pipeline never advances past
// the instant up to which its port has been read. So a frame's fate does not depend on when the
// loop polled. A turn reads the clock, polls the ports of the pipelines that are due (others cost
// nothing), and sends the frames that are due.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/histogram.h"
#include "base/mutex.h"
#include "base/stamp_mapper.h"
#include "path/engine/classifier.h"
#include "path/engine/config.h"
#include "path/engine/engine.h"
#include "path/engine/event_heap.h"
#include "path/engine/frame_pool.h"
#include "path/engine/spill_disks.h"
#include "path/engine/spin_window.h"
#include "path/engine/trace_file.h"
#include "path/pipeline.h"
#include "path/trace/fate_trace.h"
#include "port/port.h"
#include "port/super_frame.h"
#include "sys/hybrid_waiter.h"

namespace viaduct::engine {

class Loop {
 public:
  // Clock, classifier and budget must outlive the loop. Throws SystemError, UsageError (memory).
  Loop(const Config& config, const Classifier& classifier, MemoryBudget& budget, Clock& clock);
  ~Loop();

  // The ports are not owned; a port's receiving and sending side may belong to different loops.
  void AddReceiver(size_t port, io::AnyPort* from);
  void AddSender(size_t port, io::AnyPort* to);
  // Must be called before the pipelines are added: every packet's fate goes to `file`, too, which
  // must outlive the loop.
  void AddTrace(TraceFile* file, path::TraceFormat format) { traces_.push_back({file, format}); }
  // Must be called after the ports are added: adds one direction of a class of a pair (0: packets
  // that no class matches). Throws UsageError if the SPEC's files are invalid. `index`: the
  // pipeline's number in the trace, unique in the engine.
  void AddPipeline(size_t pair, size_t class_index, Direction direction,
                   std::shared_ptr<path::Nat> nat, uint32_t index);

  // Must be called after the pipelines are added. Throws UsageError if a shared link has no rate.
  void JoinReceivers();

  // The paths begin to exist. Before Run().
  void Begin(Instant now);

  bool HasWork() const { return !lanes_.empty(); }
  // Forwards on the calling thread until Stop(). `cpu`: the processor to pin the thread to; -1:
  // none.
  void Run(int cpu);
  void Stop();  // any thread

  // May be called by any thread: runs `task` on the loop's thread between two turns, or on the
  // calling thread while the loop does not run, and returns when it is done; rethrows what it
  // throws.
  void Do(const std::function<void()>& task);

  // The following functions must be called on the loop's thread (in Do()).

  // Throws UsageError and changes nothing if there is no such pipeline, or for the reasons of
  // Pipeline::Change().
  void Change(size_t pair, size_t class_index, Direction direction, const path::Spec& spec);
  void ReplacePort(size_t port, io::AnyPort* with);
  // Adds this loop's part: its pipelines, its receivers' unmatched frames, lateness, memory.
  void AddTo(Statistics& statistics);

  // Performs one round of work at the current time; Run() repeats it, and tests call it.
  void Turn();
  // Sleeps for at most `duration`. A watched port that becomes readable ends the sleep and is
  // polled in the next turn.
  void Sleep(Duration duration);
  // Returns the instant at which the next turn has something to do, unless a watched port becomes
  // readable before.
  Instant NextTurn() const;

 private:
  static constexpr size_t kBurst = 64;
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kDisks = UINT32_MAX - 1;  // the waiter's tag

  struct Lane {  // a pipeline and its ports
    size_t pair = 0, class_index = 0;
    Direction direction = Direction::kUp;
    uint32_t receiver = 0, sender = 0;  // indices in this loop
    std::unique_ptr<path::FateTraces> traces;
    std::unique_ptr<path::Pipeline> pipeline;
    Instant reached;                          // the pipeline's own time
    bool touched = false;                     // frames were pushed since NextEvent() was read
    bool due = false;                         // in due_
    bool stalled = false;                     // waits for a disk
    uint64_t refused = 0, refused_bytes = 0;  // left the pipeline, but the sender refused them
  };
  // A frame that has been read and must enter its pipeline.
  struct Arrival {
    Instant at;
    uint64_t turn = 0;  // order among arrivals of one instant
    uint32_t lane = 0;
    path::FrameHandle frame = path::kNoFrame;  // kNoFrame: there was no memory
    uint32_t bytes = 0;
  };
  // Receivers whose frames share a link: they are read together, and their frames enter in the
  // order of time.
  struct Group {
    std::vector<uint32_t> receivers;
    std::vector<Arrival> arrivals;
    Instant reached;  // the common pipeline time of all lanes
  };
  struct Receiver {
    size_t port = 0;
    io::AnyPort* from = nullptr;
    Instant searched;    // everything stamped up to here has been pushed
    Instant last_frame;  // when the last one was found
    Duration interval;   // between polls while frames arrive; zero: poll always
    uint64_t turn = 0;   // number of the turn of the last poll
    bool listened = false;
    uint64_t unmatched = 0, too_long = 0;
    std::vector<uint32_t> lanes;
    uint32_t group = kNone;
    bool emptied = false;  // when it was read last
  };
  struct Pending {
    path::FrameHandle frame = 0;
    uint32_t lane = 0;
    Instant due;
  };
  struct Sender {
    size_t port = 0;
    io::AnyPort* to = nullptr;
    std::vector<Pending> pending;
    size_t first = 0;  // the first pending one not yet taken
    bool blocked = false;
  };

  std::unique_ptr<SpillDisks> OpenDisks(MemoryBudget& budget);
  Lane* FindLane(size_t pair, size_t class_index, Direction direction);
  void Poll(uint32_t receiver);
  void PollGroup(Group& group);
  void Read(Receiver& receiver);
  void Join(uint32_t a, uint32_t b);
  Instant SearchedOf(const Receiver& receiver) const;
  Instant& ReachedOf(Lane& lane);
  void Push(const Arrival& arrival);
  void MarkDirty(uint32_t lane);
  bool TakeBurst(Receiver& receiver, Instant& looked);
  void Listen(uint32_t receiver, bool on);
  void TakeFrame(Receiver& receiver, const io::ReceivedFrame& frame, Instant arrived);
  void PlanNextLook(uint32_t receiver, bool emptied);
  void UpdateTouched();
  void PlanNextEvent(Lane& lane);
  void PollDisks();
  void Serve(Lane& lane);
  void LearnLead();
  void Flush(Sender& sender);
  size_t FlushBurst(Sender& sender);
  void UpdateInterval(Receiver& receiver);
  void Idle();
  void RunTasks();
  void ReadWhatWaits(Instant until);
  void End();

  const Config& config_;
  const Classifier& classifier_;
  Clock& clock_;
  FramePool pool_;
  std::unique_ptr<SpillDisks> disks_;  // if frames may spill to disk
  StampMapper mapper_;
  io::SuperFrameSplitter splitter_;

  struct Trace {
    TraceFile* file;
    path::TraceFormat format;
  };
  std::vector<Trace> traces_;
  std::vector<Receiver> receivers_;
  std::vector<Sender> senders_;
  path::SharedLinks links_;
  std::vector<Lane> lanes_;
  std::vector<Group> groups_;
  std::vector<uint32_t> first_lane_;  // index 2 * pair + direction: the lane of class 0, or kNone
  EventHeap events_, poll_schedule_;  // indexed by lanes_; by receivers_
  std::vector<uint32_t> due_, touched_;
  Instant now_;
  Instant sent_;    // the clock after the last transmission
  Instant waited_;  // when the last wait for ports began
  Instant retry_ = Instant::Never();
  // The time before a frame's due instant at which its sending begins, so that the frame leaves at
  // the due instant.
  Duration send_lead_, send_latency_;
  uint64_t turn_ = 0;
  uint64_t arrivals_ = 0;
  size_t listened_ = 0;  // receivers
  size_t stalled_ = 0;   // lanes
  int64_t memory_peak_ = 0;
  Histogram lateness_;
  SpinWindow window_;
  std::array<io::ReceivedFrame, kBurst> received_;

  sys::HybridWaiter waiter_;
  Mutex mutex_;
  std::vector<std::function<void()>> tasks_ VIADUCT_GUARDED_BY(mutex_);
  bool running_ VIADUCT_GUARDED_BY(mutex_) = false;
  std::atomic<bool> called_ = false;  // there are tasks, or the loop must stop
  std::atomic<bool> stop_ = false;
};

}  // namespace viaduct::engine
