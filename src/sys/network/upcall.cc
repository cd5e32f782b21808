#include "sys/network/upcall.h"

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {
namespace {

constexpr size_t kIpChecksum = 10;         // offset in the IPv4 header (RFC 791)
constexpr size_t kIpSource = 12;           // likewise; the destination follows
constexpr uint16_t kCopyBit = 0x8000;      // in the place of the checksum
constexpr int32_t kCopyMark = 0x5664436f;  // the mark of a packet while it is copied
constexpr uint32_t kMaxFlows = 65536;
constexpr uint16_t kPriority = 1;

using Code = std::vector<bpf_insn>;

constexpr bpf_insn Instruction(int code, int target, int source = 0, int offset = 0,
                               int32_t value = 0) {
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(target & 0xf),
          static_cast<uint8_t>(source & 0xf), static_cast<int16_t>(offset), value};
}

constexpr bpf_insn Set(int target, int32_t value) {
  return Instruction(BPF_ALU64 | BPF_MOV | BPF_K, target, 0, 0, value);
}
constexpr bpf_insn Copy(int target, int source) {
  return Instruction(BPF_ALU64 | BPF_MOV | BPF_X, target, source);
}
constexpr bpf_insn Add(int target, int32_t value) {
  // NOLINTNEXTLINE(misc-redundant-expression): two of these flags are 0
  return Instruction(BPF_ALU64 | BPF_ADD | BPF_K, target, 0, 0, value);
}
constexpr bpf_insn Load(int size, int target, int base, int offset) {
  return Instruction(BPF_LDX | BPF_MEM | size, target, base, offset);
}
constexpr bpf_insn Store(int size, int base, int offset, int source) {
  return Instruction(BPF_STX | BPF_MEM | size, base, source, offset);
}
constexpr bpf_insn StoreValue(int size, int base, int offset, int32_t value) {
  return Instruction(BPF_ST | BPF_MEM | size, base, 0, offset, value);
}
constexpr bpf_insn Call(int function) { return Instruction(BPF_JMP | BPF_CALL, 0, 0, 0, function); }
// Jumps over `skipped` instructions.
constexpr bpf_insn JumpIf(int condition, int left, int32_t value, int skipped) {
  return Instruction(BPF_JMP | condition | BPF_K, left, 0, skipped, value);
}

void Append(Code& code, std::initializer_list<bpf_insn> more) {
  code.insert(code.end(), more.begin(), more.end());
}

// r0 = continue with the next classifier; exit.
void AppendEnd(Code& code) {
  Append(code, {Set(BPF_REG_0, TC_ACT_UNSPEC), Instruction(BPF_JMP | BPF_EXIT, 0)});
}

// `body`, over which `test` jumps.
void AppendGuarded(Code& code, bpf_insn test, const Code& body) {
  test.off = static_cast<int16_t>(body.size());
  code.push_back(test);
  code.insert(code.end(), body.begin(), body.end());
}

// Jumps unless the register holds the EtherType of IPv4.
bpf_insn UnlessIpv4(int scratch) { return JumpIf(BPF_JNE, scratch, htons(ETH_P_IP), 0); }

// On the TUN device, whose packets begin with the IP header.
Code MarkingCode() {
  const Code body = {
      Load(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(__sk_buff, ingress_ifindex)),
      Load(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(__sk_buff, mark)),
      JumpIf(BPF_JNE, BPF_REG_3, kCopyMark, 1),
      Instruction(BPF_ALU64 | BPF_OR | BPF_K, BPF_REG_2, 0, 0, kCopyBit),
      Store(BPF_H, BPF_REG_10, -2, BPF_REG_2),
      Set(BPF_REG_2, kIpChecksum),
      Copy(BPF_REG_3, BPF_REG_10),
      Add(BPF_REG_3, -2),
      Set(BPF_REG_4, 2),
      Set(BPF_REG_5, 0),
      Call(BPF_FUNC_skb_store_bytes),
  };
  Code code = {Load(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(__sk_buff, protocol))};
  AppendGuarded(code, UnlessIpv4(BPF_REG_2), body);
  AppendEnd(code);
  return code;
}

// r1 = the map.
void AppendMap(Code& code, int map) {
  // NOLINTNEXTLINE(misc-redundant-expression): two of these flags are 0
  Append(code, {Instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
                Instruction(0, 0)});
}

// The place of the map's key and of a new value on the stack.
constexpr int kKey = -16;  // source, destination, where: three words
constexpr int kValue = -24;

// r6: the packet. Sends a copy up, with the mark by which the TUN device knows it.
Code CloningCode(int tun_ifindex) {
  return {
      Load(BPF_W, BPF_REG_9, BPF_REG_6, offsetof(__sk_buff, mark)),
      Set(BPF_REG_1, kCopyMark),
      Store(BPF_W, BPF_REG_6, offsetof(__sk_buff, mark), BPF_REG_1),
      Copy(BPF_REG_1, BPF_REG_6),
      Set(BPF_REG_2, tun_ifindex),
      Set(BPF_REG_3, 0),
      Call(BPF_FUNC_clone_redirect),
      Store(BPF_W, BPF_REG_6, offsetof(__sk_buff, mark), BPF_REG_9),
  };
}

// The key is on the stack: copies unless a packet with it was copied less than `interval` ago.
Code LimitedCode(int map, int tun_ifindex, Duration interval) {
  const Code cloning = CloningCode(tun_ifindex);
  Code create = {Store(BPF_DW, BPF_REG_10, kValue, BPF_REG_8)};
  AppendMap(create, map);
  Append(create, {Copy(BPF_REG_2, BPF_REG_10), Add(BPF_REG_2, kKey), Copy(BPF_REG_3, BPF_REG_10),
                  Add(BPF_REG_3, kValue), Set(BPF_REG_4, BPF_ANY), Call(BPF_FUNC_map_update_elem)});
  const Code refresh = {
      Load(BPF_DW, BPF_REG_2, BPF_REG_7, 0),
      Add(BPF_REG_2, static_cast<int32_t>(interval.nanoseconds())),
      Instruction(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_2, BPF_REG_8,
                  static_cast<int>(2 + create.size() + cloning.size())),
      Store(BPF_DW, BPF_REG_7, 0, BPF_REG_8),
      Instruction(BPF_JMP | BPF_JA, 0, 0, static_cast<int>(create.size())),
  };
  Code code;
  AppendMap(code, map);
  Append(code, {Copy(BPF_REG_2, BPF_REG_10), Add(BPF_REG_2, kKey), Call(BPF_FUNC_map_lookup_elem),
                Copy(BPF_REG_7, BPF_REG_0), Call(BPF_FUNC_ktime_get_ns), Copy(BPF_REG_8, BPF_REG_0),
                JumpIf(BPF_JEQ, BPF_REG_7, 0, static_cast<int>(refresh.size()))});
  for (const Code* part : {&refresh, static_cast<const Code*>(&create), &cloning}) {
    code.insert(code.end(), part->begin(), part->end());
  }
  return code;
}

// On an Ethernet interface. `where` is a part of the flow's key. Leaving packets are only looked at
// if they have not come in anywhere.
Code CopyingCode(int map, int tun_ifindex, Duration interval, int32_t where, bool is_egress) {
  const Code limited = LimitedCode(map, tun_ifindex, interval);
  Code read = {Copy(BPF_REG_1, BPF_REG_6),  Set(BPF_REG_2, ETH_HLEN + kIpSource),
               Copy(BPF_REG_3, BPF_REG_10), Add(BPF_REG_3, kKey),
               Set(BPF_REG_4, 8),           Call(BPF_FUNC_skb_load_bytes)};
  Code body = {StoreValue(BPF_W, BPF_REG_10, kKey + 8, where)};
  body.insert(body.end(), limited.begin(), limited.end());
  AppendGuarded(read, JumpIf(BPF_JNE, BPF_REG_0, 0, 0), body);
  if (is_egress) {
    Code local = {Load(BPF_W, BPF_REG_2, BPF_REG_6, offsetof(__sk_buff, ingress_ifindex))};
    AppendGuarded(local, JumpIf(BPF_JNE, BPF_REG_2, 0, 0), read);
    read = local;
  }
  Code code = {Copy(BPF_REG_6, BPF_REG_1),
               Load(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(__sk_buff, protocol))};
  AppendGuarded(code, UnlessIpv4(BPF_REG_2), read);
  AppendEnd(code);
  return code;
}

UniqueFd Bpf(bpf_cmd command, bpf_attr& attributes, const std::string& what) {
  UniqueFd fd(static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes)));
  if (fd) return fd;
  throw EnvironmentError("this kernel cannot " + what + " (eBPF: " + std::strerror(errno) +
                         "), which a protocol that finds routes on demand needs in mode offload; "
                         "use mode emulate");
}

UniqueFd CreateFlowMap() {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_LRU_HASH;
  attributes.key_size = 12;
  attributes.value_size = 8;
  attributes.max_entries = kMaxFlows;
  return Bpf(BPF_MAP_CREATE, attributes, "remember flows");
}

UniqueFd LoadClassifier(const Code& code) {
  static constexpr char kLicense[] = "GPL";
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  attributes.insn_cnt = static_cast<uint32_t>(code.size());
  attributes.insns = reinterpret_cast<uintptr_t>(code.data());
  attributes.license = reinterpret_cast<uintptr_t>(kLicense);
  return Bpf(BPF_PROG_LOAD, attributes, "classify packets");
}

tcmsg TrafficHeader(int ifindex, uint32_t parent) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = ifindex;
  header.tcm_parent = parent;
  return header;
}

void AddHooks(NetlinkSocket& session, int ifindex) {
  tcmsg header = TrafficHeader(ifindex, TC_H_CLSACT);
  header.tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
  NetlinkMessage message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL);
  message.AppendHeader(header);
  message.Put(TCA_KIND, "clsact");
  const int error = session.TryRequest(message);
  if (error != 0 && error != EEXIST) throw SystemError("add clsact", error);
}

void Attach(NetlinkSocket& session, int ifindex, bool is_egress, const UniqueFd& program) {
  tcmsg header = TrafficHeader(
      ifindex, TC_H_MAKE(TC_H_CLSACT, is_egress ? TC_H_MIN_EGRESS : TC_H_MIN_INGRESS));
  header.tcm_info = TC_H_MAKE(uint32_t{kPriority} << 16, htons(ETH_P_ALL));
  NetlinkMessage message(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
  message.AppendHeader(header);
  message.Put(TCA_KIND, "bpf");
  message.Nest(TCA_OPTIONS, [&] {
    message.PutU32(TCA_BPF_FD, static_cast<uint32_t>(program.get()));
    message.Put(TCA_BPF_NAME, "viaduct-upcall");
    message.PutU32(TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
  });
  session.Request(message, "attach a classifier");
}

}  // namespace

UpcallOrigin TakeUpcallOrigin(std::span<std::byte> packet) {
  uint16_t origin = 0;
  std::memcpy(&origin, &packet[kIpChecksum], sizeof origin);
  std::memset(&packet[kIpChecksum], 0, sizeof origin);
  return {origin & ~kCopyBit, (origin & kCopyBit) != 0};
}

void MarkUpcalls(int namespace_fd, int tun_ifindex) {
  NetlinkSocket session(namespace_fd);
  AddHooks(session, tun_ifindex);
  Attach(session, tun_ifindex, true, LoadClassifier(MarkingCode()));
}

void CopyFlows(int namespace_fd, const std::vector<int>& ifindexes, int tun_ifindex,
               Duration interval) {
  NetlinkSocket session(namespace_fd);
  const UniqueFd map = CreateFlowMap();
  for (const int ifindex : ifindexes) {
    AddHooks(session, ifindex);
    for (const bool is_egress : {false, true}) {
      const int32_t where = ifindex << 1 | (is_egress ? 1 : 0);
      Attach(session, ifindex, is_egress,
             LoadClassifier(CopyingCode(map.get(), tun_ifindex, interval, where, is_egress)));
    }
  }
}

}  // namespace viaduct::sys
