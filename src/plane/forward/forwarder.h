// The poll loop of a lab's forwarder: all its nodes, each with a forwarding program, on one thread.
#pragma once

#include <memory>
#include <vector>

#include "base/poller.h"
#include "plane/forward/equipment.h"

namespace viaduct::forward {

class Forwarder {
 public:
  // Opens the rings, which then begin to receive frames, and creates the programs. Throws Error (a
  // table of another format, no memory for the rings).
  explicit Forwarder(std::vector<Equipment> equipment);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // Forwards frames until `stop` is readable.
  void Run(int stop);

 private:
  class RunningNode;
  void Serve(const Poller::Ready& ready);

  Poller poller_;
  std::vector<std::unique_ptr<RunningNode>> nodes_;
  bool is_stopped_ = false;
};

}  // namespace viaduct::forward
