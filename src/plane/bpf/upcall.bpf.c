// Sends packets up through a TUN device: writes a header before each packet, and copies some of the
// packets that the kernel itself forwards.
//
// The origin of a packet is in a separate header, because no field of both IP versions is free, and
// because the origin must be in each segment of a super-frame (GSO). The kernel segments a
// super-frame after this program and repeats in each segment the bytes before the network header.
// clang-format off
#include <linux/bpf.h>
#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "plane/bpf/upcall.h"

#define SMALLEST_FLOWS 1         // a placeholder: the loader sets the numbers of entries
#define RECENT_FLOWS 256         // number of entries per processor
#define ROUTER_SOLICITATION 133  // ICMPv6 type
#define REDIRECT 137
#define COPY_MARK 0x5664436f  // the mark of a packet while a copy of it is sent to the TUN device

// The settings of this program, which the loader sets.
const volatile struct viaduct_upcall_settings settings = {};

// A flow: a pair of addresses, the interface, and whether the packets arrive on the interface or
// leave by it.
struct flow4 {
  __be32 source, destination;
  __u32 where;
};
struct flow6 {
  struct in6_addr source, destination;
  __u32 where;
};

// The time at which a packet of the flow was last copied, ns (CLOCK_MONOTONIC_COARSE).
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, SMALLEST_FLOWS);
  __type(key, struct flow4);
  __type(value, __u64);
} upcall_flows4 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, SMALLEST_FLOWS);
  __type(key, struct flow6);
  __type(value, __u64);
} upcall_flows6 SEC(".maps");

// The time of the last copy, for flows whose packets a processor received recently. An entry may be
// out of date. Access to the array costs a tenth of the time of access to the hash table.
struct recent4 {
  struct flow4 flow;
  __u64 last;
};
struct recent6 {
  struct flow6 flow;
  __u64 last;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, RECENT_FLOWS);
  __type(key, __u32);
  __type(value, struct recent4);
} upcall_recent4 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, RECENT_FLOWS);
  __type(key, __u32);
  __type(value, struct recent6);
} upcall_recent6 SEC(".maps");

// Reads bytes at an offset from the IP header, because packets may lack an Ethernet header: the
// copies that a node receives of packets that it sends to groups.
static __always_inline long load(struct __sk_buff* skb, __u32 offset, void* to, __u32 size) {
  return bpf_skb_load_bytes_relative(skb, offset, to, size, BPF_HDR_START_NET);
}

// Returns the entry at the flow's place in an array of recent flows; the place is a hash of all
// words of the flow.
static __always_inline void* recent_of(void* array, const void* flow, __u32 size) {
  const __u32* words = flow;
  __u32 mixed = 0;
  for (__u32 i = 0; i < size / sizeof *words; ++i) mixed = (mixed ^ words[i]) * 0x9e3779b1;
  const __u32 index = mixed >> 16 & (RECENT_FLOWS - 1);
  return bpf_map_lookup_elem(array, &index);
}

static __always_inline int is_same_flow(const void* one, const void* other, __u32 size) {
  const __u32 *a = one, *b = other;
  __u32 differing = 0;
  for (__u32 i = 0; i < size / sizeof *a; ++i) differing |= a[i] ^ b[i];
  return differing == 0;
}

// Returns whether a packet of the flow must be copied now; sets `last` to the time of the last
// copy.
static __always_inline int is_due(void* flows, const void* flow, __u64 now, __u64* last) {
  __u64* known = bpf_map_lookup_elem(flows, flow);
  *last = now;
  if (!known) {
    bpf_map_update_elem(flows, flow, &now, BPF_ANY);
    return 1;
  }
  if (now - *known < settings.interval) {
    *last = *known;
    return 0;
  }
  *known = now;
  return 1;
}

// Returns whether an IPv4 packet must be copied now. Packets to groups are never copied, and
// is_due_ipv6() never copies link-local packets either, because a protocol does not look for routes
// for such packets.
static __always_inline int is_due_ipv4(struct __sk_buff* skb, __u32 where) {
  struct flow4 flow = {.where = where};
  const long error = load(skb, __builtin_offsetof(struct iphdr, saddr), &flow, 8);
  if (error != 0 || bpf_ntohl(flow.destination) >> 24 >= 224) return 0;
  const __u64 now = bpf_ktime_get_coarse_ns();
  struct recent4* recent = recent_of(&upcall_recent4, &flow, sizeof flow);
  if (!recent) return 0;
  if (now - recent->last < settings.interval && is_same_flow(&recent->flow, &flow, sizeof flow)) {
    return 0;
  }
  recent->flow = flow;
  return is_due(&upcall_flows4, &flow, now, &recent->last);
}

// Returns whether a packet is a neighbour discovery message (RFC 4861, section 4). The kernel
// itself sends such messages to its neighbours, without looking up a route.
static __always_inline int is_neighbour_discovery(struct __sk_buff* skb) {
  struct {
    struct ipv6hdr ip;
    struct icmp6hdr icmp;
  } packet;
  return load(skb, 0, &packet, sizeof packet) == 0 && packet.ip.nexthdr == IPPROTO_ICMPV6 &&
         packet.ip.hop_limit == 255 && packet.icmp.icmp6_type >= ROUTER_SOLICITATION &&
         packet.icmp.icmp6_type <= REDIRECT;
}

static __always_inline int is_due_ipv6(struct __sk_buff* skb, __u32 where) {
  struct flow6 flow = {.where = where};
  const long error = load(skb, __builtin_offsetof(struct ipv6hdr, saddr), &flow, 32);
  const __u32 first = bpf_ntohl(flow.destination.in6_u.u6_addr32[0]);
  if (error != 0 || first >> 24 == 0xff || first >> 22 == 0xfe80 >> 6) return 0;
  const __u64 now = bpf_ktime_get_coarse_ns();
  struct recent6* recent = recent_of(&upcall_recent6, &flow, sizeof flow);
  if (!recent) return 0;
  if (now - recent->last < settings.interval && is_same_flow(&recent->flow, &flow, sizeof flow)) {
    return 0;
  }
  if (is_neighbour_discovery(skb)) return 0;
  recent->flow = flow;
  return is_due(&upcall_flows6, &flow, now, &recent->last);
}

// Copies a packet on an Ethernet interface to the TUN device, if a copy of its flow is due.
static __always_inline int copy(struct __sk_buff* skb, __u32 is_egress) {
  const __u32 where = skb->ifindex << 1 | is_egress;
  int due = 0;
  if (skb->protocol == bpf_htons(ETH_P_IP) && settings.copies_ipv4) due = is_due_ipv4(skb, where);
  if (skb->protocol == bpf_htons(ETH_P_IPV6) && settings.copies_ipv6) due = is_due_ipv6(skb, where);
  if (due) {
    const __u32 mark = skb->mark;
    skb->mark = COPY_MARK;
    bpf_clone_redirect(skb, settings.tun_ifindex, 0);
    skb->mark = mark;
  }
  return TC_ACT_UNSPEC;
}

SEC("tc")
int viaduct_upcall_in(struct __sk_buff* skb) { return copy(skb, 0); }

// Copies only packets of the node's own programs: packets that have not arrived on an interface,
// neither in the kernel nor in a forwarder.
SEC("tc")
int viaduct_upcall_out(struct __sk_buff* skb) {
  const int is_own = skb->ingress_ifindex == 0 && skb->mark != VIADUCT_FORWARDED_MARK;
  return is_own ? copy(skb, 1) : TC_ACT_UNSPEC;
}

// Returns whether an IPv6 packet is for a link-local group. The kernel itself sends such packets on
// every interface, to report the groups that it has joined (RFC 3810).
static __always_inline int is_to_link_local_group(struct __sk_buff* skb) {
  __be32 destination = 0;
  return skb->protocol == bpf_htons(ETH_P_IPV6) &&
         load(skb, __builtin_offsetof(struct ipv6hdr, daddr), &destination, sizeof destination) ==
             0 &&
         bpf_ntohl(destination) >> 16 == 0xff02;
}

// Writes the header before a packet, at the egress of the TUN device, where packets begin with the
// IP header. Drops a packet before which the header cannot be written, because the reader would
// take the packet's first bytes for the header.
SEC("tc")
int viaduct_upcall_mark(struct __sk_buff* skb) {
  __u32 mark = skb->mark, ifindex = skb->ingress_ifindex;
  // Prevents clang from selecting between the addresses of the two fields, which the verifier
  // refuses.
  asm volatile("" : "+r"(mark), "+r"(ifindex));
  const int is_passed = skb->protocol == bpf_htons(VIADUCT_PASSED_UP);
  const struct viaduct_upcall_header header = {.ifindex = is_passed ? mark : ifindex,
                                               .is_copy = !is_passed && mark == COPY_MARK};
  if (is_to_link_local_group(skb)) return TC_ACT_STOLEN;  // the packet is not counted as lost
  if (bpf_skb_change_head(skb, sizeof header, 0) != 0 ||
      bpf_skb_store_bytes(skb, 0, &header, sizeof header, 0) != 0) {
    return TC_ACT_SHOT;
  }
  return TC_ACT_UNSPEC;
}

char viaduct_license[] SEC("license") = "GPL";
