// The first program of a User Mode Linux guest in virtual time (qdisc_host.cc): sends the frames of
// a plan (qdisc_plan.h) through the kernel's own qdiscs, from one end of a veth pair to the other,
// and writes a line "CASE NUMBER NANOSECONDS TOS" for each frame that arrives, by the kernel's
// receive timestamps. In the guest only waiting takes time, so instants are exact except for the
// clock reads (256 ns each). The kernel's command line sets two environment variables: QDISC_PLAN
// (a file of the host) and QDISC_RESULTS (a folder of the host, to which the files results, log
// and, at the very end, done are written).
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "qdisc_plan.h"

namespace {

using viaduct::bench::PlannedCase;

constexpr int kBuffer = 256 << 20;
constexpr int kQuiet = 3000;  // after this many ms without a frame, no more frames are expected
constexpr int64_t kSecond = 1000000000;

FILE* g_log = nullptr;

void Check(const char* what, long result) {
  if (result < 0) std::fprintf(g_log, "%s: %s\n", what, std::strerror(errno));
}

void Shell(const std::string& command) {
  const int status = std::system((command + " >> /run/results/log 2>&1").c_str());
  if (status != 0) std::fprintf(g_log, "status %d: %s\n", status, command.c_str());
}

int PacketSocket(const char* interface) {
  const int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
  Check("socket", fd);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_IP);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface));
  Check("bind", bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
  Check("SO_SNDBUFFORCE", setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kBuffer, sizeof kBuffer));
  Check("SO_RCVBUFFORCE", setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kBuffer, sizeof kBuffer));
  const int on = 1;
  Check("SO_TIMESTAMPNS", setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on));
  return fd;
}

void SetUp() {
  prctl(PR_SET_TIMERSLACK, 1);  // with the default slack every sleep is 50 us longer
  mount("proc", "/proc", "proc", 0, nullptr);
  mount("sys", "/sys", "sysfs", 0, nullptr);
  mount("run", "/run", "tmpfs", 0, nullptr);
  mkdir("/run/results", 0755);
  mount("none", "/run/results", "hostfs", 0, std::getenv("QDISC_RESULTS"));
  g_log = std::fopen("/run/results/log", "a");
  std::setvbuf(g_log, nullptr, _IOLBF, 4096);
  setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  Shell("sysctl -q net.ipv6.conf.default.disable_ipv6=1");
  Shell("ip link add name left type veth peer name right");
  Shell("ip link set left up");
  Shell("ip link set right up");
}

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

// Receives frames and writes their lines until no frame has arrived for kQuiet.
void Receive(int fd, const PlannedCase& planned, int64_t start, FILE* results) {
  pollfd waits{fd, POLLIN, 0};
  while (poll(&waits, 1, kQuiet) > 0) {
    std::byte bytes[2048];
    alignas(cmsghdr) char control[256];
    iovec vector{bytes, sizeof bytes};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(fd, &message, 0);
    if (size < 46) continue;
    timespec at{};
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_type == SCM_TIMESTAMPNS) std::memcpy(&at, CMSG_DATA(c), sizeof at);
    }
    const viaduct::wire::ConstBytes frame(bytes, static_cast<size_t>(size));
    std::fprintf(results, "%s %u %lld %d\n", planned.name.c_str(), PlannedCase::NumberOf(frame),
                 static_cast<long long>(Nanoseconds(at) - start), static_cast<int>(bytes[15]));
  }
}

void Send(int fd, const PlannedCase& planned, int64_t start) {
  for (uint64_t i = 0; i < planned.packets; ++i) {
    if (i % planned.batch == 0) {
      const int64_t at = start + planned.SentAt(i);
      const timespec until{at / kSecond, at % kSecond};
      clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr);
    }
    const auto frame = planned.Frame(i);
    send(fd, frame.data(), frame.size(), 0);  // an error means that the qdisc has dropped the frame
  }
}

void Run(const PlannedCase& planned) {
  for (const std::string& words : planned.tc) Shell("tc qdisc add dev left " + words);
  const int in = PacketSocket("right"), out = PacketSocket("left");
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t start = (Nanoseconds(now) / kSecond + 2) * kSecond;
  const pid_t receiver = fork();
  if (receiver == 0) {
    FILE* results = std::fopen("/run/results/results", "a");
    Receive(in, planned, start, results);
    std::fclose(results);
    _exit(0);
  }
  Send(out, planned, start);
  waitpid(receiver, nullptr, 0);
  close(in);
  close(out);
  Shell("tc -s qdisc show dev left");
  Shell("tc qdisc del dev left root");
}

}  // namespace

int main() {
  SetUp();
  for (const auto& planned : viaduct::bench::ReadPlan(std::getenv("QDISC_PLAN"))) Run(planned);
  std::fclose(g_log);
  std::fclose(std::fopen("/run/results/done", "w"));
  sync();
  reboot(RB_POWER_OFF);
}
