// The command's view of the path engine of a run's lab.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result/engine.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// Watches the path engine: when the engine ends, sys::EventLoop::Run() throws Error. For use by one
// thread.
class EngineWatch {
 public:
  // `socket_path`: the engine's control socket. The loop must outlive this object.
  EngineWatch(std::string socket_path, sys::EventLoop& loop);
  ~EngineWatch();
  EngineWatch(const EngineWatch&) = delete;
  EngineWatch& operator=(const EngineWatch&) = delete;

  // Reads the statistics of the engine so far.
  result::EngineResult Read() const;
  // Changes the SPECs of a pair, as `viaduct path set` does; an empty SPEC leaves its direction
  // unchanged. Throws UsageError if the engine refuses the SPECs.
  void Set(const std::string& pair, const std::string& up, const std::string& down) const;

 private:
  std::string CauseOfDeath() const;

  std::string socket_path_;
  sys::EventLoop& loop_;
  UniqueFd alive_;  // an idle connection, which is closed when the engine ends
};

}  // namespace viaduct::run
