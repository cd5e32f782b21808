// Forwards IPv4 and IPv6 unicast at the ingress of a node's interfaces: the kernel's own routes and
// neighbours decide (bpf_fib_lookup()), and the frame is passed to the outgoing wire's other end,
// in the next node's namespace, where it arrives as if it had been received (bpf_redirect_peer()).
// All other steps of the kernel's forwarding (ip_forward(), ip6_forward()) are done by this
// program, or the packet is left to the kernel.
#include "plane/bpf/packet.bpf.h"

#define SMALLEST_PORTS 1  // a placeholder: the loader sets the number of entries

// The number of entries of the map `ports`, minus one: a mask for ifindexes; the loader sets it.
const volatile __u32 place_mask = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SMALLEST_PORTS);
  __type(key, __u32);
  __type(value, struct viaduct_port);
} ports SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SMALLEST_PORTS);
  __type(key, __u32);
  __type(value, struct viaduct_port_counters);
} port_counters SEC(".maps");

// The node's own IPv4 addresses. The kernel discards packets that have one of them as their source
// (fib_validate_source()); bpf_fib_lookup() does not.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __be32);
  __type(value, __u8);
} own_addresses SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct viaduct_own_filter);
} own_filter SEC(".maps");

static __always_inline const struct viaduct_port* find_port(__u32 ifindex) {
  const __u32 place = ifindex & place_mask;
  const struct viaduct_port* port = bpf_map_lookup_elem(&ports, &place);
  return port && port->ifindex == ifindex ? port : 0;
}

static __always_inline int is_own(__be32 address) {
  const __u32 only = 0;
  const __u8 hash = viaduct_own_hash(address);
  const struct viaduct_own_filter* filter = bpf_map_lookup_elem(&own_filter, &only);
  if (!filter || !(filter->bits[hash / 64] >> hash % 64 & 1)) return 0;
  return bpf_map_lookup_elem(&own_addresses, &address) != 0;
}

static __always_inline enum viaduct_outcome outcome_of(long result) {
  switch (result) {
    case BPF_FIB_LKUP_RET_SUCCESS:
      return VIADUCT_FORWARDED;
    case BPF_FIB_LKUP_RET_NO_NEIGH:
      return VIADUCT_NO_NEIGHBOUR;
    case BPF_FIB_LKUP_RET_FRAG_NEEDED:
      return VIADUCT_TOO_LONG;
    default:
      return VIADUCT_NOT_ROUTED;
  }
}

// Returns VIADUCT_FORWARDED and sets the outgoing interface in `lookup`, or returns the reason to
// leave the packet to the kernel; does not change the packet.
static __always_inline enum viaduct_outcome decide(struct __sk_buff* skb,
                                                   struct bpf_fib_lookup* lookup) {
  __u8 ttl = 0;
  if (skb->pkt_type != PACKET_HOST) return VIADUCT_NOT_UNICAST;
  enum viaduct_outcome outcome = read_packet(skb, lookup, &ttl);
  if (outcome != VIADUCT_FORWARDED) return outcome;
  if (lookup->family == AF_INET && is_own(lookup->ipv4_src)) return VIADUCT_OWN_SOURCE;
  lookup->ifindex = skb->ifindex;
  outcome = outcome_of(bpf_fib_lookup(skb, lookup, sizeof *lookup, 0));
  if (outcome != VIADUCT_FORWARDED) return outcome;
  if (lookup->ifindex == skb->ifindex) return VIADUCT_SAME_PORT;
  const struct viaduct_port* port = find_port(lookup->ifindex);
  // bpf_redirect_peer() delivers every frame as if it were sent to the receiving interface's
  // address, so the frame's destination is compared with that address first.
  return port && port->is_wire && is_same_mac(lookup->dmac, port->far_mac) ? VIADUCT_FORWARDED
                                                                           : VIADUCT_NOT_A_WIRE;
}

// Returns TC_ACT_UNSPEC for a frame that is left to the kernel: first the next programs at this
// interface receive it, then the kernel's stack.
SEC("tc")
int viaduct_forward(struct __sk_buff* skb) {
  const __u32 place = skb->ifindex & place_mask;
  struct viaduct_port_counters* counters = bpf_map_lookup_elem(&port_counters, &place);
  if (!counters) return TC_ACT_UNSPEC;
  struct bpf_fib_lookup lookup = {};
  const enum viaduct_outcome outcome = decide(skb, &lookup);
  if (outcome < VIADUCT_OUTCOMES) counters->packets[outcome] += 1;  // the counter of this processor
  if (outcome != VIADUCT_FORWARDED) return TC_ACT_UNSPEC;
  counters->bytes += skb->len;
  rewrite(skb, lookup.dmac, lookup.smac, 1);
  return bpf_redirect_peer(lookup.ifindex, 0);
}

// The license is GPL because the kernel offers the helper bpf_fib_lookup() only to programs under
// the GPL.
char viaduct_license[] SEC("license") = "GPL";
