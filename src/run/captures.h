// Captures the packets of links in pcap files during a run.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "broker/client.h"
#include "result/run.h"
#include "scenario/scenario.h"

namespace viaduct::run {

// There is one file per link, DIRECTORY/LINK.pcap. It has each frame once, as its receiver got it
// (so frames that the link lost are missing), with the kernel's time of reception. With the data
// plane in the kernel, offloads are on: TCP appears as super-frames, and checksums may be
// incomplete.
class Captures {
 public:
  // Opens everything, then captures in a thread of its own until Finish() or destruction. Throws
  // Error.
  Captures(const scenario::Scenario& scenario, broker::Client& client,
           const std::string& directory);
  ~Captures();
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Writes the remaining frames and closes the files.
  std::vector<result::Capture> Finish();

 private:
  struct Link;
  void Work();
  bool Drain();

  std::vector<std::unique_ptr<Link>> links_;
  std::atomic<bool> stop_ = false;
  UniqueFd wake_;
  std::thread thread_;
};

}  // namespace viaduct::run
