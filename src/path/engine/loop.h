// One thread's share of an engine: the ports from which the thread receives, the ports to which it
// sends, and the pipelines between them.
//
// Time: a frame's arrival instant is the kernel's time stamp, and a pipeline never advances past
// the instant up to which its port has been read. So a frame's fate does not depend on the instants
// at which the loop polled. A turn reads the clock, polls the ports of the pipelines that are due
// (other ports cost nothing), and sends the frames that are due.
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
  // All arguments must outlive the loop. Throws SystemError, or UsageError if the memory limit is
  // too small.
  Loop(const Config& config, const Classifier& classifier, MemoryBudget& budget, Clock& clock);
  ~Loop();

  // The ports are not owned; a port's receiving and sending side may belong to different loops.
  void AddReceiver(size_t port, io::AnyPort* from);
  void AddSender(size_t port, io::AnyPort* to);
  // Adds a file to which every packet's fate is written in the format `format`. Must be called
  // before the pipelines are added; `file` must outlive the loop.
  void AddTrace(TraceFile* file, path::TraceFormat format) { traces_.push_back({file, format}); }
  // Adds the pipeline of one direction of a class of a pair (class 0: packets that no class
  // matches). Must be called after the ports are added. Throws UsageError if the SPEC's files are
  // invalid. `index`: the pipeline's number in the trace, unique in the engine.
  void AddPipeline(size_t pair, size_t class_index, Direction direction,
                   std::shared_ptr<path::Nat> nat, uint32_t index);

  // Groups the receivers whose frames share a link. Must be called after the pipelines are added.
  // Throws UsageError if a shared link has no rate.
  void JoinReceivers();

  // Sets the instant at which the paths begin to exist. Must be called before Run().
  void Begin(Instant now);

  bool HasWork() const { return !lanes_.empty(); }
  // Forwards on the calling thread until Stop(). `cpu`: the processor to pin the thread to; -1:
  // none.
  void Run(int cpu);
  void Stop();  // may be called by any thread

  // Runs `task` on the loop's thread between two turns, or on the calling thread while the loop
  // does not run, and returns when the task is done; rethrows the exception of the task. May be
  // called by any thread.
  void Do(const std::function<void()>& task);

  // The following functions must be called on the loop's thread (in Do()).

  // Changes the SPEC of a pipeline. Throws UsageError and changes nothing if the pipeline does not
  // exist, or for the reasons of Pipeline::Change().
  void Change(size_t pair, size_t class_index, Direction direction, const path::Spec& spec);
  void ReplacePort(size_t port, io::AnyPort* with);
  // Adds this loop's part to the statistics: its pipelines, its receivers' unmatched frames,
  // lateness, memory.
  void AddTo(Statistics& statistics);

  // Performs one round of work at the current time; Run() repeats it, and tests call it.
  void Turn();
  // Sleeps for at most `duration`. A watched port that becomes readable ends the sleep and is
  // polled in the next turn.
  void Sleep(Duration duration);
  // Returns the instant at which the next turn has something to do, unless a watched port becomes
  // readable earlier.
  Instant NextTurn() const;

 private:
  static constexpr size_t kBurst = 64;
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kDisks = UINT32_MAX - 1;  // identifies the disks in waiter_

  struct Lane {  // a pipeline and its ports
    size_t pair = 0, class_index = 0;
    Direction direction = Direction::kUp;
    uint32_t receiver = 0, sender = 0;  // indices into receivers_ and senders_
    std::unique_ptr<path::FateTraces> traces;
    std::unique_ptr<path::Pipeline> pipeline;
    Instant reached;                          // instant up to which the pipeline has advanced
    bool touched = false;                     // frames were pushed since NextEvent() was read
    bool due = false;                         // the lane is in due_
    bool stalled = false;                     // the pipeline waits for a disk
    uint64_t refused = 0, refused_bytes = 0;  // frames that the sender refused
  };
  // A frame that has been read and must enter its pipeline.
  struct Arrival {
    Instant at;
    // Value of arrivals_ when the frame was read; orders frames of the same instant.
    uint64_t turn = 0;
    uint32_t lane = 0;
    path::FrameHandle frame = path::kNoFrame;  // kNoFrame: no memory was available
    uint32_t bytes = 0;
  };
  // Receivers whose frames share a link: they are read together, and their frames enter the
  // pipelines in the order of their arrival instants.
  struct Group {
    std::vector<uint32_t> receivers;
    std::vector<Arrival> arrivals;
    Instant reached;  // instant up to which the pipelines of all lanes have advanced
  };
  struct Receiver {
    size_t port = 0;
    io::AnyPort* from = nullptr;
    Instant searched;    // all frames stamped up to this instant have been pushed
    Instant last_frame;  // instant at which the last frame was found
    Duration interval;   // interval between polls while frames arrive; zero: poll always
    uint64_t turn = 0;   // number of the turn in which the port was last polled
    bool listened = false;
    uint64_t unmatched = 0, too_long = 0;
    std::vector<uint32_t> lanes;
    uint32_t group = kNone;
    bool emptied = false;  // whether the last read emptied the port
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
    size_t first = 0;  // index of the first pending frame not yet taken by the port
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
  std::unique_ptr<SpillDisks> disks_;  // null unless frames may spill to disk
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
  EventHeap events_, poll_schedule_;  // items: indices into lanes_ and into receivers_ respectively
  std::vector<uint32_t> due_, touched_;
  Instant now_;
  Instant sent_;    // the clock after the last transmission
  Instant waited_;  // instant at which the last wait for ports began
  Instant retry_ = Instant::Never();
  // send_lead_: the time before a frame's due instant at which its sending begins, so that the
  // frame leaves at the due instant. send_latency_: the mean sending time of a frame.
  Duration send_lead_, send_latency_;
  uint64_t turn_ = 0;
  uint64_t arrivals_ = 0;
  size_t listened_ = 0;  // number of receivers that the loop waits for
  size_t stalled_ = 0;   // number of lanes that wait for a disk
  int64_t memory_peak_ = 0;
  Histogram lateness_;
  SpinWindow window_;
  std::array<io::ReceivedFrame, kBurst> received_;

  sys::HybridWaiter waiter_;
  Mutex mutex_;
  std::vector<std::function<void()>> tasks_ VIADUCT_GUARDED_BY(mutex_);
  bool running_ VIADUCT_GUARDED_BY(mutex_) = false;
  std::atomic<bool> called_ = false;  // whether there are tasks or the loop must stop
  std::atomic<bool> stop_ = false;
};

}  // namespace viaduct::engine
