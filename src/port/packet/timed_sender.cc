#include "port/packet/timed_sender.h"

#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/wire/ethernet.h"
#include "port/interface.h"

namespace viaduct::io {
namespace {

// The time after which a frame counts as unheard if its fate was not reported, from its due time
// on.
constexpr Duration kHeard = Duration::Seconds(1);

Instant ToInstant(const timespec& time) {
  return Instant::FromNanoseconds(time.tv_sec * int64_t{1000000000} + time.tv_nsec);
}

Instant NowOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return ToInstant(now);
}

// Returns the current lead of a clock over CLOCK_MONOTONIC. The error is at most the time that
// reading the clocks takes.
Duration AheadOfMonotonic(clockid_t clock) {
  const Instant before = NowOf(CLOCK_MONOTONIC);
  const Instant other = NowOf(clock);
  const Instant after = NowOf(CLOCK_MONOTONIC);
  return other - (before + (after - before) / 2);
}

}  // namespace

TimedSender::TimedSender(UniqueFd socket, int ifindex, Clock clock)
    : socket_(std::move(socket)), ifindex_(ifindex), clock_(clock) {
  const int fd = socket_.get();
  sock_txtime times{};
  times.clockid = clock == Clock::kTai ? CLOCK_TAI : CLOCK_MONOTONIC;
  times.flags = SOF_TXTIME_REPORT_ERRORS;
  SetSocketOption(fd, SOL_SOCKET, SO_TXTIME, times, "SO_TXTIME");
  const int stamps = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
                     SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
  SetSocketOption(fd, SOL_SOCKET, SO_TIMESTAMPING, stamps, "SO_TIMESTAMPING");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = ifindex;
  SystemCall("bind a packet socket",
             bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

TimedSender::Result TimedSender::Send(FrameToSend frame, Instant due) {
  // Refuses a frame that is too long, instead of letting the kernel refuse the frame: it depends on
  // the kernel whether a refused frame uses up an id (SOF_TIMESTAMPING_OPT_ID).
  const size_t longest =
      size_t{InterfaceMtuNow(socket_.get(), ifindex_)} + wire::EthernetHeader::kSize;
  if (frame.size() > longest + wire::VlanTag::kSize) {
    ++counters_.refused;
    return Result::kRefused;
  }
  const Duration ahead = clock_ == Clock::kTai ? AheadOfMonotonic(CLOCK_TAI) : Duration();
  const auto time = static_cast<uint64_t>((due + ahead).nanoseconds());
  iovec part = {const_cast<std::byte*>(frame.data()), frame.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof time)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_TXTIME;
  header->cmsg_len = CMSG_LEN(sizeof time);
  std::memcpy(CMSG_DATA(header), &time, sizeof time);
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket_.get(), &message, MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    due_.emplace(next_id_++, due);
    ++counters_.sent;
    counters_.bytes += frame.size();
    return Result::kTaken;
  }
  if (errno == EAGAIN) return Result::kNoRoom;
  if (errno == ENOBUFS) {
    ++next_id_;  // the qdisc dropped the frame after it got an id
    return Result::kNoRoom;
  }
  ++counters_.refused;
  return Result::kRefused;
}

size_t TimedSender::ReadFates(Instant now, const std::function<void(Duration)>& left) {
  const uint64_t before = counters_.left + counters_.missed + counters_.unheard;
  const Duration realtime = AheadOfMonotonic(CLOCK_REALTIME);
  alignas(cmsghdr) std::array<char, 512> control;
  for (;;) {
    std::array<std::byte, 256> bytes;  // the beginning of a frame that missed its time
    iovec part = {bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(socket_.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    Instant stamp;  // when the frame left, CLOCK_MONOTONIC
    sock_extended_err report{};
    for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr;
         part_of = CMSG_NXTHDR(&message, part_of)) {
      if (part_of->cmsg_level == SOL_SOCKET && part_of->cmsg_type == SCM_TIMESTAMPING) {
        scm_timestamping times;
        std::memcpy(&times, CMSG_DATA(part_of), sizeof times);
        stamp = ToInstant(times.ts[0]) - realtime;
      } else if (part_of->cmsg_level == SOL_PACKET && part_of->cmsg_type == PACKET_TX_TIMESTAMP) {
        std::memcpy(&report, CMSG_DATA(part_of), sizeof report);
      }
    }
    if (report.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && report.ee_info == SCM_TSTAMP_SND) {
      HandleLeft(report.ee_data, stamp, left);
    } else if (report.ee_origin == SO_EE_ORIGIN_TXTIME &&
               report.ee_code == SO_EE_CODE_TXTIME_MISSED) {  // other codes: Send() failed
      HandleMissed(uint64_t{report.ee_data} << 32 | report.ee_info);
    }
  }
  GiveUp(now);
  return counters_.left + counters_.missed + counters_.unheard - before;
}

void TimedSender::HandleLeft(uint32_t id, Instant at, const std::function<void(Duration)>& left) {
  const auto found = due_.find(id);
  if (found == due_.end()) return;
  const Duration late = at - found->second;
  lateness_.Record(std::max<int64_t>(late.nanoseconds(), 0));
  earliest_ = std::max(earliest_, -late);
  ++counters_.left;
  due_.erase(found);
  if (left) left(late);
}

// Counts a frame as missed. The kernel's report has the time of the frame, not its id
// (net/sched/sch_etf.c, report_sock_error()): if several frames have the same time, any of them may
// be removed from due_. Removes the frame whose due time is nearest, because the difference of the
// clocks may have changed since the frame was sent.
void TimedSender::HandleMissed(uint64_t txtime) {
  if (due_.empty()) return;
  const Duration ahead = clock_ == Clock::kTai ? AheadOfMonotonic(CLOCK_TAI) : Duration();
  const Instant due = Instant::FromNanoseconds(static_cast<int64_t>(txtime)) - ahead;
  const auto distance = [due](const auto& frame) {
    return std::max(frame.second - due, due - frame.second);
  };
  due_.erase(std::min_element(due_.begin(), due_.end(), [&](const auto& a, const auto& b) {
    return distance(a) < distance(b);
  }));
  ++counters_.missed;
}

void TimedSender::GiveUp(Instant now) {
  counters_.unheard +=
      std::erase_if(due_, [now](const auto& frame) { return frame.second + kHeard < now; });
}

}  // namespace viaduct::io
