// The dumbbell network of ns3-dumbbell with this machine's own kernel, in real time: the real-time
// side of the benchmark `kernelstack`. Many dumbbells run at the same time, as real time cannot be
// accelerated.
//
//   host-dumbbells --dumbbells=50 --flows=2 --duration=60
//
// Creates its network in the namespace in which it is started, prints "ready", and waits for a line
// on standard input: meanwhile the caller joins the interfaces l<i> and r<i> of each dumbbell with
// a path emulator. Then prints one JSON object with the goodput of every flow. The network is
// removed when the program exits.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/poller.h"
#include "base/socket_option.h"
#include "base/text/json_text.h"
#include "host_network.h"
#include "program.h"
#include "sys/network/netns.h"
#include "sys/process/process.h"

namespace {

using viaduct::Duration;
using viaduct::Instant;
using viaduct::MonotonicClock;
using viaduct::SystemCall;
using viaduct::UniqueFd;

constexpr uint16_t kPort = 5001;

struct Options {
  viaduct::bench::HostNetworkOptions network;
  std::vector<std::string> sysctls;
  std::string congestion = "cubic";
  uint64_t rate = 1'000'000;  // sending rate of each application in bit/s
  uint32_t write = 512;       // bytes that an application writes in one call
  double duration = 60;       // seconds
};

struct Flow {
  UniqueFd sender, listener, receiver;
  uint64_t received = 0;
};

UniqueFd MakeSocket(int name_space, const std::string& congestion) {
  const viaduct::sys::NamespaceScope scope(name_space);
  UniqueFd fd(SystemCall("socket", socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)));
  // TCP_NODELAY is the default of ns-3's TcpSocket (attribute TcpNoDelay).
  viaduct::SetSocketOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  SystemCall("setsockopt TCP_CONGESTION " + congestion,
             setsockopt(fd.get(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                        static_cast<socklen_t>(congestion.size())));
  return fd;
}

sockaddr_in Address(uint32_t host_order) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(host_order);
  return address;
}

Flow Open(int sender, int receiver, const std::string& congestion) {
  Flow flow;
  flow.listener = MakeSocket(receiver, congestion);
  const sockaddr_in any = Address(INADDR_ANY);
  SystemCall("bind",
             bind(flow.listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any));
  SystemCall("listen", listen(flow.listener.get(), 1));
  flow.sender = MakeSocket(sender, congestion);
  return flow;
}

// The connections of all flows and their traffic, on one thread, which serves one tick or event at
// a time.
class Traffic {
 public:
  Traffic(const Options& options, const std::vector<viaduct::bench::HostDumbbell>& dumbbells)
      : options_(options),
        interval_(Duration::Seconds(8) * options.write / static_cast<int64_t>(options.rate)),
        payload_(options.write) {
    for (const auto& dumbbell : dumbbells) {
      for (size_t i = 0; i < dumbbell.senders.size(); ++i) {
        flows_.push_back(
            Open(dumbbell.senders[i].get(), dumbbell.receivers[i].get(), options.congestion));
      }
    }
    for (size_t i = 0; i < flows_.size(); ++i) poller_.Add(flows_[i].listener.get(), i);
  }

  // Runs all flows. The dumbbells start one after the other within one interval, so that their
  // writes do not coincide.
  void Run() {
    const auto count = static_cast<int64_t>(flows_.size() / options_.network.flows);
    const Instant start = MonotonicClock::Now() + Duration::Milliseconds(20);
    const auto turns = static_cast<int64_t>(options_.duration / interval_.ToSeconds());
    for (int64_t i = 0; i < turns * count; ++i) {
      const Instant due = start + interval_ * (i / count) + interval_ * (i % count) / count;
      ServeUntil(due);
      worst_ = std::max(worst_, MonotonicClock::Now() - due);
      for (uint32_t flow = 0; flow < options_.network.flows; ++flow) {
        const size_t index = static_cast<size_t>(i % count) * options_.network.flows + flow;
        if (i < count) Connect(index, flow);
        Write(index);
      }
    }
    ServeUntil(start + interval_ * turns);
  }

  std::vector<double> Goodputs() const {
    std::vector<double> goodputs;
    for (const auto& flow : flows_) {
      goodputs.push_back(8 * static_cast<double>(flow.received) / options_.duration);
    }
    return goodputs;
  }
  Duration worst_lateness() const { return worst_; }
  uint64_t Retransmits() const {
    uint64_t total = 0;
    for (const auto& flow : flows_) {
      tcp_info info{};
      socklen_t size = sizeof info;
      SystemCall("getsockopt TCP_INFO",
                 getsockopt(flow.sender.get(), IPPROTO_TCP, TCP_INFO, &info, &size));
      total += info.tcpi_total_retrans;
    }
    return total;
  }

 private:
  void Connect(size_t index, uint32_t flow) {
    const sockaddr_in to = Address(viaduct::bench::HostReceiverAddress(flow));
    const int result =
        connect(flows_[index].sender.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (result < 0 && errno != EINPROGRESS) SystemCall("connect", result);
  }

  // Writes as ns-3's OnOffApplication does: if the socket does not accept a write, the flow writes
  // again only at its next tick, and missed ticks are not repeated. Partial writes cannot happen:
  // the socket's buffer grows in steps much larger than one write, so the socket accepts or refuses
  // each write completely.
  void Write(size_t index) {
    if (send(flows_[index].sender.get(), payload_.data(), payload_.size(), MSG_NOSIGNAL) < 0 &&
        errno != EAGAIN && errno != ENOTCONN && errno != EPIPE) {
      SystemCall("send", -1);
    }
  }

  void ServeUntil(Instant until) {
    for (;;) {
      const Duration left = until - MonotonicClock::Now();
      for (const epoll_event& event : poller_.Wait(left)) Read(event.data.u64);
      if (left <= Duration()) return;
    }
  }

  void Read(size_t index) {
    Flow& flow = flows_[index];
    if (!flow.receiver) {
      flow.receiver.reset(
          SystemCall("accept", accept4(flow.listener.get(), nullptr, nullptr, SOCK_NONBLOCK)));
      poller_.Add(flow.receiver.get(), index);
      return;
    }
    // MSG_TRUNC discards the received bytes (tcp(7)).
    const ssize_t size = recv(flow.receiver.get(), nullptr, 1 << 20, MSG_TRUNC);
    if (size > 0) flow.received += static_cast<uint64_t>(size);
  }

  const Options& options_;
  Duration interval_;
  viaduct::Poller poller_;
  std::vector<char> payload_;
  std::vector<Flow> flows_;
  Duration worst_;
};

Options Parse(int argc, char** argv) {
  Options options;
  CLI::App app("dumbbells with this machine's own kernel, in real time");
  app.add_option("--dumbbells", options.network.dumbbells)->check(CLI::Range(1, 1000));
  app.add_option("--flows", options.network.flows)->check(CLI::Range(1, 1000));
  app.add_option("--congestion", options.congestion, "congestion control of both ends");
  app.add_option("--rate-app", options.rate, "bit/s")->check(CLI::PositiveNumber);
  app.add_option("--write", options.write, "bytes")->check(CLI::Range(1, 65536));
  app.add_option("--duration", options.duration, "s")->check(CLI::PositiveNumber);
  app.add_option("--sysctl", options.sysctls, "NAME=VALUE of senders and receivers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  for (const auto& setting : options.sysctls) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw viaduct::UsageError("--sysctl: " + setting + " is not NAME=VALUE");
    }
    options.network.sysctls[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return options;
}

// Raises the limit of descriptors, because each of hundreds of namespaces has several sockets.
void RaiseDescriptorLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void Run(const Options& options) {
  RaiseDescriptorLimit();
  // Takes the same priority as the path engine, so that lateness of this process is not attributed
  // to the kernel.
  viaduct::sys::FavourOwnSession();
  viaduct::sys::TakeHighestPriority();
  const auto dumbbells = viaduct::bench::BuildHostDumbbells(options.network);
  Traffic traffic(options, dumbbells);
  std::cout << "ready" << std::endl;
  std::string go;
  if (!std::getline(std::cin, go)) return;
  traffic.Run();
  const nlohmann::json report = {{"goodput_bit_per_s", traffic.Goodputs()},
                                 {"worst_lateness_ms", traffic.worst_lateness().ToSeconds() * 1e3},
                                 {"retransmits", traffic.Retransmits()}};
  std::cout << viaduct::JsonText(report) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("host-dumbbells", [&] {
    Run(Parse(argc, argv));
    return 0;
  });
}
