// Forwards IPv4 and IPv6 unicast at the ingress of a node's interfaces: the kernel's own routes and
// neighbours decide (bpf_fib_lookup()), and the frame goes to the other end of the outgoing wire, in
// the next node's namespace, where it comes in as if it had been received (bpf_redirect_peer()).
// What the kernel's forwarding would do besides that (ip_forward(), ip6_forward()) is done here, or
// the packet is left to the kernel.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "port.h"

#define AF_INET 2
#define AF_INET6 10
#define IP_OFFSET_OR_MORE 0x3fff  // of iphdr.frag_off: the packet is a fragment
#define FLOW_INFORMATION 0x0fffffff  // traffic class and flow label of the first word of an ipv6hdr
#define SMALLEST_PORTS 1  // the loader sets the number of interfaces

// By ifindex.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SMALLEST_PORTS);
  __type(key, __u32);
  __type(value, struct viaduct_port);
} ports SEC(".maps");

// The node's own IPv4 addresses. The kernel discards what claims to come from one of them
// (fib_validate_source()); bpf_fib_lookup() does not.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __be32);
  __type(value, __u8);
} own_addresses SEC(".maps");

static __always_inline int is_forwardable_ipv4(__be32 address) {
  const __u32 host = bpf_ntohl(address);
  const __u32 first = host >> 24;
  return first != 0 && first != 127 && first < 224;
}

// Unicast beyond the link: not ::/8 (unspecified, loopback, mapped), fe80::/10, ff00::/8.
static __always_inline int is_forwardable_ipv6(const struct in6_addr *address) {
  const __u32 first = bpf_ntohl(address->in6_u.u6_addr32[0]);
  return first >> 24 != 0 && first >> 24 != 0xff && first >> 22 != 0xfe80 >> 6;
}

static __always_inline int has_right_checksum(const struct iphdr *ip) {
  const __u32 *words = (const __u32 *)ip;
  __u64 sum = (__u64)words[0] + words[1] + words[2] + words[3] + words[4];
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return ((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

// The ports are part of the flow where the kernel's multipath hash includes them. Returns the length
// of the transport header, 0 if it is not known.
static __always_inline __u32 read_transport(const void *header, const void *end,
                                            struct bpf_fib_lookup *lookup) {
  if (lookup->l4_protocol == IPPROTO_TCP) {
    const struct tcphdr *tcp = header;
    if ((const void *)(tcp + 1) > end) return 0;
    lookup->sport = tcp->source;
    lookup->dport = tcp->dest;
    return tcp->doff * 4;
  }
  if (lookup->l4_protocol == IPPROTO_UDP) {
    const struct udphdr *udp = header;
    if ((const void *)(udp + 1) > end) return 0;
    lookup->sport = udp->source;
    lookup->dport = udp->dest;
    return sizeof *udp;
  }
  return 0;
}

// The length that the outgoing interface's MTU limits: of a super-frame (GSO), that of its segments.
// Returns 0 if it is not known.
static __always_inline __u32 limited_length(const struct __sk_buff *skb, __u32 length,
                                            __u32 ip_header, __u32 transport_header) {
  if (skb->gso_size == 0) return length;
  return transport_header == 0 ? 0 : ip_header + transport_header + skb->gso_size;
}

static __always_inline enum viaduct_outcome prepare_ipv4(struct __sk_buff *skb, void *header,
                                                         void *end, struct bpf_fib_lookup *lookup) {
  const struct iphdr *ip = header;
  if ((void *)(ip + 1) > end) return VIADUCT_UNUSUAL;
  const __u32 length = skb->len - ETH_HLEN;
  if (ip->version != 4 || ip->ihl != 5 || bpf_ntohs(ip->tot_len) != length ||
      !is_forwardable_ipv4(ip->saddr) || !is_forwardable_ipv4(ip->daddr) ||
      !has_right_checksum(ip)) {
    return VIADUCT_UNUSUAL;
  }
  if (ip->ttl <= 1) return VIADUCT_TTL_EXPIRES;
  const __be32 source = ip->saddr;
  if (bpf_map_lookup_elem(&own_addresses, &source)) return VIADUCT_OWN_SOURCE;
  lookup->family = AF_INET;
  lookup->tos = ip->tos;
  lookup->l4_protocol = ip->protocol;
  lookup->ipv4_src = source;
  lookup->ipv4_dst = ip->daddr;
  const int is_fragment = ip->frag_off & bpf_htons(IP_OFFSET_OR_MORE);
  const __u32 transport = is_fragment ? 0 : read_transport(ip + 1, end, lookup);
  lookup->tot_len = limited_length(skb, length, sizeof *ip, transport);
  return lookup->tot_len == 0 ? VIADUCT_UNUSUAL : VIADUCT_FORWARDED;
}

static __always_inline enum viaduct_outcome prepare_ipv6(struct __sk_buff *skb, void *header,
                                                         void *end, struct bpf_fib_lookup *lookup) {
  const struct ipv6hdr *ip = header;
  if ((void *)(ip + 1) > end) return VIADUCT_UNUSUAL;
  const __u32 length = skb->len - ETH_HLEN;
  // Hop-by-hop options are for every router.
  if (ip->version != 6 || ip->nexthdr == IPPROTO_HOPOPTS ||
      bpf_ntohs(ip->payload_len) + sizeof *ip != length || !is_forwardable_ipv6(&ip->saddr) ||
      !is_forwardable_ipv6(&ip->daddr)) {
    return VIADUCT_UNUSUAL;
  }
  if (ip->hop_limit <= 1) return VIADUCT_TTL_EXPIRES;
  lookup->family = AF_INET6;
  lookup->flowinfo = *(const __be32 *)ip & bpf_htonl(FLOW_INFORMATION);
  lookup->l4_protocol = ip->nexthdr;
  __builtin_memcpy(lookup->ipv6_src, &ip->saddr, sizeof ip->saddr);
  __builtin_memcpy(lookup->ipv6_dst, &ip->daddr, sizeof ip->daddr);
  const __u32 transport = read_transport(ip + 1, end, lookup);
  lookup->tot_len = limited_length(skb, length, sizeof *ip, transport);
  return lookup->tot_len == 0 ? VIADUCT_UNUSUAL : VIADUCT_FORWARDED;
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

// The checksum's change by one hop (RFC 1624, equation 3), as ip_decrease_ttl() computes it.
static __always_inline void decrement_ttl(struct iphdr *ip) {
  const __u32 sum = (__u32)ip->check + bpf_htons(0x0100);
  ip->check = (__u16)(sum + (sum >= 0xffff));
  ip->ttl -= 1;
}

// Which interface the packet leaves through, or why it is left to the kernel; changes nothing.
static __always_inline enum viaduct_outcome decide(struct __sk_buff *skb, void *data, void *end,
                                                   struct bpf_fib_lookup *lookup) {
  if (skb->pkt_type != PACKET_HOST) return VIADUCT_NOT_UNICAST;
  const struct ethhdr *frame = data;
  if ((void *)(frame + 1) > end || skb->vlan_present) return VIADUCT_NOT_IP;
  enum viaduct_outcome outcome = VIADUCT_NOT_IP;
  if (frame->h_proto == bpf_htons(ETH_P_IP)) {
    outcome = prepare_ipv4(skb, data + ETH_HLEN, end, lookup);
  } else if (frame->h_proto == bpf_htons(ETH_P_IPV6)) {
    outcome = prepare_ipv6(skb, data + ETH_HLEN, end, lookup);
  }
  if (outcome != VIADUCT_FORWARDED) return outcome;
  lookup->ifindex = skb->ifindex;
  outcome = outcome_of(bpf_fib_lookup(skb, lookup, sizeof *lookup, 0));
  if (outcome != VIADUCT_FORWARDED) return outcome;
  const __u32 leaves = lookup->ifindex;
  if (leaves == skb->ifindex) return VIADUCT_SAME_PORT;
  const struct viaduct_port *port = bpf_map_lookup_elem(&ports, &leaves);
  return port && port->is_wire ? VIADUCT_FORWARDED : VIADUCT_NOT_A_WIRE;
}

static __always_inline void rewrite(struct ethhdr *frame, void *end,
                                    const struct bpf_fib_lookup *lookup) {
  __builtin_memcpy(frame->h_dest, lookup->dmac, ETH_ALEN);
  __builtin_memcpy(frame->h_source, lookup->smac, ETH_ALEN);
  if (lookup->family == AF_INET) {
    struct iphdr *ip = (void *)(frame + 1);
    if ((void *)(ip + 1) <= end) decrement_ttl(ip);
  } else {
    struct ipv6hdr *ip = (void *)(frame + 1);
    if ((void *)(ip + 1) <= end) ip->hop_limit -= 1;
  }
}

// TC_ACT_UNSPEC: whatever else is at this interface, then the kernel's stack.
SEC("tc")
int viaduct_forward(struct __sk_buff *skb) {
  const __u32 arrives = skb->ifindex;
  struct viaduct_port *port = bpf_map_lookup_elem(&ports, &arrives);
  if (!port) return TC_ACT_UNSPEC;
  void *data = (void *)(long)skb->data;
  void *end = (void *)(long)skb->data_end;
  struct bpf_fib_lookup lookup = {};
  const enum viaduct_outcome outcome = decide(skb, data, end, &lookup);
  if (outcome < VIADUCT_OUTCOMES) __sync_fetch_and_add(&port->packets[outcome], 1);
  if (outcome != VIADUCT_FORWARDED || data + ETH_HLEN > end) return TC_ACT_UNSPEC;
  __sync_fetch_and_add(&port->bytes, skb->len);
  rewrite(data, end, &lookup);
  return bpf_redirect_peer(lookup.ifindex, 0);
}

// Of the helpers, bpf_fib_lookup() is for programs under the GPL.
char viaduct_license[] SEC("license") = "GPL";
