#include "run/captures.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "io/pcap_writer.h"
#include "io/ring_port.h"
#include "run/traffic.h"

namespace viaduct::run {
namespace {

// Super-frames of TCP offload are this long at most.
constexpr uint32_t kLongestFrame = 262144;

}  // namespace

struct Captures::Link {
  std::string name, file;
  std::vector<io::RingPort> ports;
  std::unique_ptr<io::PcapWriter> writer;

  bool Drain() {
    std::array<io::ReceivedFrame, 64> burst;
    bool any = false;
    for (io::RingPort& port : ports) {
      const size_t count = port.Receive(burst);
      for (size_t i = 0; i < count; ++i) writer->Write(burst[i].received, burst[i].bytes);
      any = any || count > 0;
    }
    return any;
  }

  // Closes the file. A full disk costs the capture, not the run's results.
  std::string Close() {
    try {
      writer->Flush();
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  uint64_t Dropped() {
    uint64_t dropped = writer->frames_lost();
    for (io::RingPort& port : ports) {
      const io::PortCounters counters = port.Counters();
      dropped += counters.rx_dropped_ring_full + counters.rx_dropped_truncated;
    }
    return dropped;
  }
};

Captures::Captures(const scenario::Scenario& scenario, broker::Client& client,
                   const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(fmt::format("{}: cannot be created: {}", directory, error.message()));
  for (const std::string& name : scenario.captures) {
    auto link = std::make_unique<Link>();
    link->name = name;
    link->file = (std::filesystem::path(directory) / (name + ".pcap")).string();
    for (const lab::Endpoint& endpoint : EndpointsOf(scenario, name)) {
      broker::PacketSocketOptions options;
      options.node = endpoint.node;
      options.interface = endpoint.interface;
      broker::NodeSocket socket = client.OpenPacketSocket(options);
      io::RingOptions ring;
      ring.ifindex = socket.ifindex;
      link->ports.emplace_back(std::move(socket.fd), ring);
    }
    link->writer = std::make_unique<io::PcapWriter>(link->file, io::PcapWriter::LinkType::kEthernet,
                                                    kLongestFrame);
    links_.push_back(std::move(link));
  }
  wake_.reset(SystemCall("eventfd", eventfd(0, EFD_CLOEXEC)));
  thread_ = std::thread([this] { Work(); });
}

Captures::~Captures() { Finish(); }

bool Captures::Drain() {
  bool any = false;
  for (const auto& link : links_) any = link->Drain() || any;
  return any;
}

void Captures::Work() {
  std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
  for (const auto& link : links_) {
    for (io::RingPort& port : link->ports) fds.push_back({port.Fd(), POLLIN, 0});
  }
  while (!stop_) {
    if (!Drain()) poll(fds.data(), fds.size(), -1);
  }
  // Reads the frames that had arrived by then, with a limit in case a link is still busy.
  for (int i = 0; i < 1000 && Drain(); ++i) {
  }
}

std::vector<result::Capture> Captures::Finish() {
  std::vector<result::Capture> list;
  if (!thread_.joinable()) return list;
  stop_ = true;
  if (eventfd_write(wake_.get(), 1) < 0) return list;  // cannot fail: the counter is not full
  thread_.join();
  for (const auto& link : links_) {
    std::string error = link->Close();
    list.push_back({link->name, link->file, link->writer->frames_written(), link->Dropped(),
                    std::move(error)});
  }
  links_.clear();
  return list;
}

}  // namespace viaduct::run
