#include "sys/network/filter.h"

#include <fmt/format.h>
#include <linux/bpf_common.h>
#include <pcap/pcap.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/mutex.h"

namespace viaduct::sys {
namespace {

// Numbers of IEEE 802.1Q, in bytes: the offset of a VLAN tag in a frame, the offset of the tag's
// control information, the offset of the first byte after the tag, and the size of the tag.
constexpr uint32_t kTag = 12, kTagControl = 14, kBehindTag = 16, kTagBytes = 4;
// The first offset at which a load reads the kernel's data about the frame instead of the frame's
// bytes.
constexpr auto kFromKernel = static_cast<uint32_t>(SKF_AD_OFF);

uint32_t BytesOf(const sock_filter& load) {
  const int size = BPF_SIZE(load.code);
  return size == BPF_W ? 4 : size == BPF_H ? 2 : 1;
}

bool IsLoad(const sock_filter& instruction, int mode) {
  const int of = BPF_CLASS(instruction.code);
  return (of == BPF_LD || of == BPF_LDX) && BPF_MODE(instruction.code) == mode;
}

// Whether a VLAN tag in the frame changes the value that the instruction reads. The bytes before
// the tag are addresses.
bool DependsOnTag(const sock_filter& each) {
  if (IsLoad(each, BPF_LEN) || IsLoad(each, BPF_IND) || IsLoad(each, BPF_MSH)) return true;
  return IsLoad(each, BPF_ABS) && each.k < kFromKernel && each.k + BytesOf(each) > kTag;
}

// Returns instructions that read the bytes that this instruction would read if the tag were in the
// frame.
std::vector<sock_filter> ReadBehindTag(sock_filter each) {
  if (each.code == (BPF_LD | BPF_W | BPF_LEN)) {
    return {each, BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, kTagBytes)};
  }
  if (!DependsOnTag(each)) return {each};
  if (each.k >= kBehindTag) {
    each.k -= kTagBytes;
    return {each};
  }
  const bool is_type = each.k < kTagControl;
  const uint32_t in_half = each.k - (is_type ? kTag : kTagControl);
  if (!IsLoad(each, BPF_ABS) || each.k < kTag || in_half + BytesOf(each) > 2) return {each};
  std::vector<sock_filter> read = {BPF_STMT(
      BPF_LD | BPF_H | BPF_ABS, kFromKernel + (is_type ? SKF_AD_VLAN_TPID : SKF_AD_VLAN_TAG))};
  if (BytesOf(each) == 1) {
    read.push_back(in_half == 0 ? sock_filter BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8)
                                : sock_filter BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff));
  }
  return read;
}

// Returns the distance of a jump in the new instructions. The old jump, at index `from`, skips
// `passed` old instructions; `places` has the index of the first new instruction for each old
// instruction.
uint32_t Between(const std::vector<uint32_t>& places, size_t from, uint32_t passed) {
  return places[from + 1 + passed] - places[from + 1];
}

std::vector<sock_filter> BehindTag(const std::vector<sock_filter>& plain) {
  std::vector<sock_filter> all;
  std::vector<uint32_t> places;  // for each instruction of `plain`: index of its first new one
  for (const sock_filter& each : plain) {
    places.push_back(static_cast<uint32_t>(all.size()));
    for (const sock_filter& read : ReadBehindTag(each)) all.push_back(read);
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    if (BPF_CLASS(plain[i].code) != BPF_JMP) continue;
    sock_filter& jump = all[places[i]];
    if (BPF_OP(jump.code) == BPF_JA) {
      jump.k = Between(places, i, jump.k);
      continue;
    }
    const uint32_t yes = Between(places, i, jump.jt), no = Between(places, i, jump.jf);
    if (std::max(yes, no) > UINT8_MAX) {
      throw UsageError(
          "the packet filter has branches that are too long for a socket: shorten the filter");
    }
    jump.jt = static_cast<uint8_t>(yes);
    jump.jf = static_cast<uint8_t>(no);
  }
  return all;
}

using Instructions = std::vector<sock_filter>;

// The long filters that this process has compiled. A caller that first only checks a filter, before
// it sets anything up, does not wait for libpcap again when it uses the filter.
class Compiled {
 public:
  const Instructions* Find(const std::string& expression) {
    const MutexLock lock(mutex_);
    const auto found = all_.find(expression);
    return found == all_.end() ? nullptr : &found->second;
  }
  void Keep(const std::string& expression, const Instructions& instructions) {
    constexpr size_t kLong = 1000;
    if (expression.size() < kLong) return;
    const MutexLock lock(mutex_);
    all_.try_emplace(expression, instructions);
  }

 private:
  Mutex mutex_;
  std::map<std::string, Instructions> all_ VIADUCT_GUARDED_BY(mutex_);  // entries are never removed
};

Compiled& AllCompiled() {
  static Compiled all;
  return all;
}

}  // namespace

PacketFilter PacketFilter::Compile(const std::string& expression) {
  PacketFilter filter;
  if (expression.find_first_not_of(" \t\n") == std::string::npos) return filter;
  if (const Instructions* const known = AllCompiled().Find(expression)) {
    return PacketFilter(*known);
  }
  constexpr int kSnapLength = 262144;  // tcpdump's value: no frame is longer
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> pcap(pcap_open_dead(DLT_EN10MB, kSnapLength),
                                                        pcap_close);
  if (!pcap) throw std::bad_alloc();
  bpf_program program{};
  if (pcap_compile(pcap.get(), &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) < 0) {
    throw UsageError("packet filter \"" + expression + "\": " + pcap_geterr(pcap.get()) +
                     " (for the syntax, see pcap-filter(7))");
  }
  for (u_int i = 0; i < program.bf_len; ++i) {
    const bpf_insn& from = program.bf_insns[i];
    filter.instructions_.push_back({from.code, from.jt, from.jf, from.k});
  }
  pcap_freecode(&program);
  AllCompiled().Keep(expression, filter.instructions_);
  return filter;
}

std::vector<sock_filter> PacketFilter::ForSocket() const {
  if (std::ranges::none_of(instructions_, DependsOnTag)) return instructions_;
  const std::vector<sock_filter> tagged = BehindTag(instructions_);
  std::vector<sock_filter> all = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFromKernel + SKF_AD_VLAN_TAG_PRESENT),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_JMP | BPF_JA, static_cast<uint32_t>(tagged.size())),
  };
  all.insert(all.end(), tagged.begin(), tagged.end());
  all.insert(all.end(), instructions_.begin(), instructions_.end());
  return all;
}

sock_fprog PacketFilter::Program() const {
  return {static_cast<unsigned short>(instructions_.size()),
          const_cast<sock_filter*>(instructions_.data())};
}

void PacketFilter::Attach(int socket_fd) const {
  if (PassesEverything()) return;
  std::vector<sock_filter> instructions = ForSocket();
  if (instructions.size() > BPF_MAXINSNS) {
    throw UsageError(fmt::format(
        "the packet filter has {} instructions, but the kernel allows only {}: shorten the filter",
        instructions.size(), BPF_MAXINSNS));
  }
  const sock_fprog program = {static_cast<unsigned short>(instructions.size()),
                              instructions.data()};
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
