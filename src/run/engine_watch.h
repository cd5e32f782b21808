// The path engine of a run's lab, as the command sees it.
#pragma once

#include <string>

#include "base/fd.h"
#include "result/engine.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// Notices that the engine has died: sys::EventLoop::Run() then throws Error. One thread.
class EngineWatch {
 public:
  // `socket_path`: the engine's control socket. The loop outlives this.
  EngineWatch(std::string socket_path, sys::EventLoop& loop);
  ~EngineWatch();
  EngineWatch(const EngineWatch&) = delete;
  EngineWatch& operator=(const EngineWatch&) = delete;

  // What the engine has done so far.
  result::EngineResult Read() const;

 private:
  std::string socket_path_;
  sys::EventLoop& loop_;
  UniqueFd alive_;  // a connection that says nothing; it ends with the engine
};

}  // namespace viaduct::run
