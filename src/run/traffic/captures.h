// Captures the packets of links in pcap files during a run.
#pragma once

#include <poll.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result/run.h"
#include "lab/broker/client.h"
#include "run/traffic/traffic.h"
#include "scenario/scenario.h"

namespace viaduct::run {

// Writes one file per link, DIRECTORY/LINK.pcap. The file contains each frame once, as the receiver
// received it (so frames that the link lost are missing), with the kernel's time of reception.
// Kernels of nodes leave checksums and the segmentation of TCP and UDP to the interfaces: the file
// contains the frames that an interface would have sent; the frames of one super-frame have the
// same time.
class Captures {
 public:
  // Creates the files, then captures in a separate thread until Finish() or destruction. The links
  // in the scenario's `captures` are captured at once; the links of its events are captured from
  // Start() to Stop(). Throws Error.
  Captures(const scenario::Scenario& scenario, broker::Client& client, const std::string& directory,
           RemoteHosts remotes = RemoteHosts::kAreNodes);
  ~Captures();
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Starts to capture the link's frames, which are appended to the file of the link. Throws Error.
  void Start(const std::string& link);
  // Writes the frames that have arrived on the link, and ends its capture.
  void Stop(const std::string& link);

  // Writes the frames that have arrived on all links, and closes the files.
  std::vector<result::Capture> Finish();

 private:
  struct Link;
  Link& Find(const std::string& name) VIADUCT_THREAD_SAFETY(requires_capability(mutex_));
  void Wake();
  void Work();
  // Writes the frames that have arrived. If no frames had arrived, fills `waits` with the
  // descriptors to poll.
  bool DrainOrList(std::vector<pollfd>& waits);

  const scenario::Scenario& scenario_;
  broker::Client& client_;
  const RemoteHosts remotes_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Link>> links_ VIADUCT_GUARDED_BY(mutex_);
  std::atomic<bool> stop_ = false;
  UniqueFd wake_;  // an eventfd that wakes the capturing thread
  std::thread thread_;
};

}  // namespace viaduct::run
