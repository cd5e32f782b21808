// Connects a run to the other machines of its lab (run::Machines) through viaduct-mpi.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/machines/conductor.h"
#include "run/machines/messages.h"
#include "run/machines/mpi_link.h"
#include "run/simulator/machines.h"
#include "scenario/scenario.h"

namespace viaduct::machines {

class RankMachines : public run::Machines {
 public:
  explicit RankMachines(MpiLink& link);

  // Finds this machine among the scenario's machines by its address, and waits until the other
  // machines have called this function, too. `scenario`: the scenario of all machines, with a
  // machine for each node; it must outlive this object. Throws UsageError if this machine does not
  // have the address of any of these machines.
  void Enter(const scenario::Scenario& scenario);

  bool AreSeveral() const override { return true; }
  std::string machine() const override { return machine_; }
  bool IsLocal(const std::string& node) const override;
  void Join(sys::EventLoop& loop) override;
  void Leave() override;
  void Meet(const std::string& stage) override;
  Instant MeetToStart() override;
  void ReportRoutes(const scenario::Passages& passages) override;
  void OnConverged(const std::function<void(const scenario::Go&)>& converged) override {
    converged_ = converged;
  }
  void Tell(const std::string& node, const run::RemoteSender& ended) override;
  void OnSenderEnded(const std::function<void(const run::RemoteSender&)>& take) override;
  Duration ClockAhead(const std::string& node) const override;

  void Send(int to, const RankMessage& message);
  // Waits until rank 0 has sent the scenario to run. After Join() throws the exceptions of the
  // loop's Run().
  Given AwaitScenario();
  // Waits until all machines have removed their parts of the lab; ignores failures.
  void AwaitEnd();

  // Whether rank 0 has ended, or counts as gone.
  bool leader_is_gone() const { return leader_is_gone_; }
  // Returns the conductor of rank 0; null on all other ranks.
  Conductor* conductor() { return conductor_ ? &*conductor_ : nullptr; }
  // Measures and returns the clocks of all ranks; for rank 0 only.
  std::vector<ClockReading> MeasureClocks();

 private:
  std::string NameOfLeader() const;
  void Take(const MpiLink::Frame& frame);
  void Take(int from, const RankMessage& message);
  void Read();
  void WaitFor(const std::function<bool()>& condition);

  MpiLink& link_;
  const scenario::Scenario* scenario_ = nullptr;
  std::string machine_;
  sys::EventLoop* loop_ = nullptr;
  std::optional<Conductor> conductor_;
  std::map<std::string, Met> met_;  // the key is the name of the stage
  std::optional<Given> given_;
  bool all_ended_ = false;                 // whether the message End has arrived
  std::map<std::string, int64_t> clocks_;  // the key is the machine
  std::map<std::string, int> ranks_;       // the key is the machine
  std::vector<ClockReading> measured_;
  std::vector<run::RemoteSender> early_;  // messages received before OnSenderEnded() was called
  std::function<void(const scenario::Go&)> converged_;
  std::function<void(const run::RemoteSender&)> take_;
  bool ending_ = false;  // whether failures are ignored, because the run is ending
  bool leader_is_gone_ = false;
};

}  // namespace viaduct::machines
