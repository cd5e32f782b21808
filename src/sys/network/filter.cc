#include "sys/network/filter.h"

#include <fmt/format.h>
#include <linux/bpf_common.h>
#include <pcap/pcap.h>
#include <sys/socket.h>

#include <memory>

#include "base/error.h"

namespace viaduct::sys {

PacketFilter PacketFilter::Compile(const std::string& expression) {
  PacketFilter filter;
  if (expression.find_first_not_of(" \t\n") == std::string::npos) return filter;
  constexpr int kSnapLength = 262144;  // tcpdump's: the whole of any frame
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> pcap(pcap_open_dead(DLT_EN10MB, kSnapLength),
                                                        pcap_close);
  if (!pcap) throw std::bad_alloc();
  bpf_program program{};
  if (pcap_compile(pcap.get(), &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) < 0) {
    throw UsageError("packet filter \"" + expression + "\": " + pcap_geterr(pcap.get()) +
                     " (the syntax is tcpdump's, see pcap-filter(7))");
  }
  for (u_int i = 0; i < program.bf_len; ++i) {
    const bpf_insn& from = program.bf_insns[i];
    filter.instructions_.push_back({from.code, from.jt, from.jf, from.k});
  }
  pcap_freecode(&program);
  return filter;
}

sock_fprog PacketFilter::Program() const {
  return {static_cast<unsigned short>(instructions_.size()),
          const_cast<sock_filter*>(instructions_.data())};
}

void PacketFilter::Attach(int socket_fd) const {
  if (PassesEverything()) return;
  if (instructions_.size() > BPF_MAXINSNS) {
    throw UsageError(
        fmt::format("the packet filter has {} instructions, and the kernel takes {}: shorten it",
                    instructions_.size(), BPF_MAXINSNS));
  }
  const sock_fprog program = Program();
  SystemCall("attach a packet filter",
             setsockopt(socket_fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
}

bool PacketFilter::Matches(std::span<const std::byte> frame) const {
  if (PassesEverything()) return true;
  static_assert(sizeof(bpf_insn) == sizeof(sock_filter) &&
                offsetof(bpf_insn, k) == offsetof(sock_filter, k));
  const auto length = static_cast<u_int>(frame.size());
  return bpf_filter(reinterpret_cast<const bpf_insn*>(instructions_.data()),
                    reinterpret_cast<const u_char*>(frame.data()), length, length) != 0;
}

}  // namespace viaduct::sys
