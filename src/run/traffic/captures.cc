#include "run/traffic/captures.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "port/packet/ring_port.h"
#include "port/pcap_writer.h"
#include "scenario/events.h"

namespace viaduct::run {
namespace {

// The maximum captured length of a super-frame that cannot be segmented, in bytes.
constexpr uint32_t kMaxFrame = 262144;
// The maximum number of reads, at the end of a capture, of frames that have already arrived: a
// limit in case the link is still busy.
constexpr int kLastReads = 1000;

// Opens a port that captures at one end of a link. `alone`: whether no port captures at the far
// end; if true, the port also captures the frames that this end sends.
io::RingPort OpenPort(broker::Client& client, const lab::Endpoint& endpoint, bool alone) {
  broker::PacketSocketOptions options;
  options.node = endpoint.node;
  options.interface = endpoint.interface;
  broker::NodeSocket socket = client.OpenPacketSocket(options);
  io::RingOptions ring;
  ring.ifindex = socket.ifindex;
  ring.outgoing = alone;
  return io::RingPort(std::move(socket.fd), ring);
}

}  // namespace

struct Captures::Link {
  std::string name, file;
  std::vector<io::RingPort> ports;  // open while the link is captured
  std::unique_ptr<io::PcapWriter> writer;
  uint64_t dropped = 0;  // frames dropped at ports that were closed

  bool Drain() {
    std::array<io::ReceivedFrame, 64> burst;
    bool any = false;
    for (io::RingPort& port : ports) {
      const size_t count = port.Receive(burst);
      for (size_t i = 0; i < count; ++i) writer->WriteAsOnWire(burst[i]);
      any = any || count > 0;
    }
    return any;
  }

  void ClosePorts() {
    for (int i = 0; i < kLastReads && Drain(); ++i) {
    }
    for (io::RingPort& port : ports) {
      const io::PortCounters counters = port.Counters();
      dropped += counters.rx_dropped_ring_full + counters.rx_dropped_truncated;
    }
    ports.clear();
  }

  // Closes the file. Returns an error for the capture if the disk is full, which does not affect
  // the results of the run.
  std::string Close() {
    ClosePorts();
    try {
      writer->Flush();
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

Captures::Captures(const scenario::Scenario& scenario, broker::Client& client,
                   const std::string& directory, RemoteHosts remotes)
    : scenario_(scenario),
      client_(client),
      remotes_(remotes),
      wake_(SystemCall("eventfd", eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(fmt::format("cannot create {}: {}", directory, error.message()));
  for (const std::string& name : scenario::CapturedLinks(scenario)) {
    auto link = std::make_unique<Link>();
    link->name = name;
    link->file = (std::filesystem::path(directory) / (name + ".pcap")).string();
    link->writer = std::make_unique<io::PcapWriter>(link->file, io::PcapWriter::LinkType::kEthernet,
                                                    kMaxFrame);
    links_.push_back(std::move(link));
  }
  for (const std::string& name : scenario.captures) Start(name);
  thread_ = std::thread([this] { Work(); });
}

Captures::~Captures() { Finish(); }

Captures::Link& Captures::Find(const std::string& name) {
  return **std::ranges::find(links_, name, [](const auto& link) { return link->name; });
}

void Captures::Start(const std::string& link) {
  std::vector<io::RingPort> ports;
  const std::vector<lab::Endpoint> endpoints = EndpointsOf(scenario_, link, remotes_);
  ports.reserve(endpoints.size());
  for (const lab::Endpoint& endpoint : endpoints) {
    ports.push_back(OpenPort(client_, endpoint, endpoints.size() == 1));
  }
  {
    const MutexLock lock(mutex_);
    Find(link).ports = std::move(ports);
  }
  Wake();
}

void Captures::Stop(const std::string& link) {
  {
    const MutexLock lock(mutex_);
    Find(link).ClosePorts();
  }
  Wake();
}

void Captures::Wake() { SystemCall("eventfd_write", eventfd_write(wake_.get(), 1)); }

bool Captures::DrainOrList(std::vector<pollfd>& waits) {
  const MutexLock lock(mutex_);
  bool any = false;
  for (const auto& link : links_) any = link->Drain() || any;
  if (any) return true;
  waits.assign(1, {wake_.get(), POLLIN, 0});
  for (const auto& link : links_) {
    for (io::RingPort& port : link->ports) waits.push_back({port.fd(), POLLIN, 0});
  }
  return false;
}

void Captures::Work() {
  std::vector<pollfd> waits;
  while (!stop_) {
    if (DrainOrList(waits)) continue;
    poll(waits.data(), waits.size(), -1);
    eventfd_t count = 0;
    if (eventfd_read(wake_.get(), &count) < 0) continue;  // not woken by Wake(): a frame arrived
  }
}

std::vector<result::Capture> Captures::Finish() {
  std::vector<result::Capture> list;
  if (!thread_.joinable()) return list;
  stop_ = true;
  Wake();
  thread_.join();
  const MutexLock lock(mutex_);
  for (const auto& link : links_) {
    std::string error = link->Close();
    const io::PcapWriter& writer = *link->writer;
    const uint64_t unfinished = writer.frames_unfinished();
    list.push_back({link->name, link->file, writer.frames_written(),
                    link->dropped + writer.frames_lost(),
                    unfinished > 0 ? std::optional(unfinished) : std::nullopt, std::move(error)});
  }
  links_.clear();
  return list;
}

}  // namespace viaduct::run
