/* Functions with which the eBPF programs of src/plane/bpf read IPv4 and IPv6 unicast packets as the
 * kernel's forwarding does (ip_forward(), ip6_forward()), and change a packet as the routers on its
 * path would.
 */
#pragma once

// linux/bpf.h is first, because libbpf's headers need its types.
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/icmpv6.h>
#include <linux/if_packet.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "plane/bpf/port.h"

#define AF_INET 2
#define AF_INET6 10
#define IP_OFFSET_OR_MORE 0x3fff     // mask of iphdr.frag_off: not 0 if the packet is a fragment
#define FLOW_INFORMATION 0x0fffffff  // traffic class and flow label in the first word of an ipv6hdr

// Returns the value modulo `limit`, a power of two, in a form from which the verifier sees that the
// result is below `limit`.
static __always_inline __u64 below(__u64 limit, __u64 value) {
  asm volatile("" : "+r"(value));
  return value & (limit - 1);
}

static __always_inline int is_same_mac(const __u8* a, const __u8* b) {
  int differ = 0;
  for (int i = 0; i < ETH_ALEN; ++i) differ |= a[i] ^ b[i];
  return differ == 0;
}

// Returns a MAC address as a number; put_mac() does the reverse.
static __always_inline __u64 number_of(const __u8* mac) {
  return (__u64)mac[0] << 40 | (__u64)mac[1] << 32 | (__u64)mac[2] << 24 | (__u64)mac[3] << 16 |
         (__u64)mac[4] << 8 | mac[5];
}

static __always_inline void put_mac(__u8* to, __u64 mac) {
  for (int i = 0; i < ETH_ALEN; ++i) to[i] = mac >> (40 - 8 * i);
}

static __always_inline int is_forwardable_ipv4(__be32 address) {
  const __u32 host = bpf_ntohl(address);
  const __u32 first = host >> 24;
  return first != 0 && first != 127 && first < 224;
}

// Returns whether the address is unicast beyond the link: not ::/8 (unspecified, loopback, mapped),
// fe80::/10, ff00::/8.
static __always_inline int is_forwardable_ipv6(const struct in6_addr* address) {
  const __u32 first = bpf_ntohl(address->in6_u.u6_addr32[0]);
  return first >> 24 != 0 && first >> 24 != 0xff && first >> 22 != 0xfe80 >> 6;
}

static __always_inline int has_right_checksum(const struct iphdr* ip) {
  const __u32* words = (const __u32*)ip;
  __u64 sum = (__u64)words[0] + words[1] + words[2] + words[3] + words[4];
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return ((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

// Returns whether the packet is an ICMP error. Among equal-cost routes the kernel chooses the route
// of an error by the packet that the error quotes (ip_multipath_l3_keys()), but bpf_fib_lookup()
// chooses the route by the error's own addresses.
static __always_inline int is_icmp_error(const void* header, const void* end, __u8 protocol) {
  const __u8* type = header;
  if ((const void*)(type + 1) > end) return 0;
  if (protocol == IPPROTO_ICMPV6) return *type < 128;
  // The types of ICMPv4 errors: unreachable, source quench, redirect, time exceeded, parameter
  // problem.
  return protocol == IPPROTO_ICMP &&
         (*type == 3 || *type == 4 || *type == 5 || *type == 11 || *type == 12);
}

// Reads the TCP or UDP ports into `lookup`, as the kernel's multipath hash may include ports.
// Returns the length of the transport header; 0 if this length is not known.
static __always_inline __u32 read_transport(const void* header, const void* end,
                                            struct bpf_fib_lookup* lookup) {
  if (lookup->l4_protocol == IPPROTO_TCP) {
    const struct tcphdr* tcp = header;
    if ((const void*)(tcp + 1) > end) return 0;
    lookup->sport = tcp->source;
    lookup->dport = tcp->dest;
    return tcp->doff * 4;
  }
  if (lookup->l4_protocol == IPPROTO_UDP) {
    const struct udphdr* udp = header;
    if ((const void*)(udp + 1) > end) return 0;
    lookup->sport = udp->source;
    lookup->dport = udp->dest;
    return sizeof *udp;
  }
  return 0;
}

// Returns the length that must not exceed the outgoing interface's MTU: for a super-frame (GSO),
// the length of its segments. Returns 0 if this length is not known.
static __always_inline __u32 limited_length(const struct __sk_buff* skb, __u32 length,
                                            __u32 ip_header, __u32 transport_header) {
  if (skb->gso_size == 0) return length;
  return transport_header == 0 ? 0 : ip_header + transport_header + skb->gso_size;
}

static __always_inline enum viaduct_outcome prepare_ipv4(const struct __sk_buff* skb,
                                                         const void* header, const void* end,
                                                         struct bpf_fib_lookup* lookup, __u8* ttl) {
  const struct iphdr* ip = header;
  if ((const void*)(ip + 1) > end) return VIADUCT_UNUSUAL;
  const __u32 length = skb->len - ETH_HLEN;
  if (ip->version != 4 || ip->ihl != 5 || bpf_ntohs(ip->tot_len) != length ||
      !is_forwardable_ipv4(ip->saddr) || !is_forwardable_ipv4(ip->daddr) ||
      !has_right_checksum(ip)) {
    return VIADUCT_UNUSUAL;
  }
  *ttl = ip->ttl;
  if (ip->ttl <= 1) return VIADUCT_TTL_EXPIRES;
  lookup->family = AF_INET;
  lookup->tos = ip->tos;
  lookup->l4_protocol = ip->protocol;
  lookup->ipv4_src = ip->saddr;
  lookup->ipv4_dst = ip->daddr;
  const int is_fragment = ip->frag_off & bpf_htons(IP_OFFSET_OR_MORE);
  if (!is_fragment && is_icmp_error(ip + 1, end, ip->protocol)) return VIADUCT_UNUSUAL;
  const __u32 transport = is_fragment ? 0 : read_transport(ip + 1, end, lookup);
  lookup->tot_len = limited_length(skb, length, sizeof *ip, transport);
  return lookup->tot_len == 0 ? VIADUCT_UNUSUAL : VIADUCT_FORWARDED;
}

static __always_inline enum viaduct_outcome prepare_ipv6(const struct __sk_buff* skb,
                                                         const void* header, const void* end,
                                                         struct bpf_fib_lookup* lookup, __u8* ttl) {
  const struct ipv6hdr* ip = header;
  if ((const void*)(ip + 1) > end) return VIADUCT_UNUSUAL;
  const __u32 length = skb->len - ETH_HLEN;
  // Packets with hop-by-hop options are left to the kernel, because every router must process such
  // options.
  if (ip->version != 6 || ip->nexthdr == IPPROTO_HOPOPTS ||
      bpf_ntohs(ip->payload_len) + sizeof *ip != length || !is_forwardable_ipv6(&ip->saddr) ||
      !is_forwardable_ipv6(&ip->daddr)) {
    return VIADUCT_UNUSUAL;
  }
  *ttl = ip->hop_limit;
  if (ip->hop_limit <= 1) return VIADUCT_TTL_EXPIRES;
  lookup->family = AF_INET6;
  lookup->flowinfo = *(const __be32*)ip & bpf_htonl(FLOW_INFORMATION);
  lookup->l4_protocol = ip->nexthdr;
  __builtin_memcpy(lookup->ipv6_src, &ip->saddr, sizeof ip->saddr);
  __builtin_memcpy(lookup->ipv6_dst, &ip->daddr, sizeof ip->daddr);
  if (is_icmp_error(ip + 1, end, ip->nexthdr)) return VIADUCT_UNUSUAL;
  const __u32 transport = read_transport(ip + 1, end, lookup);
  lookup->tot_len = limited_length(skb, length, sizeof *ip, transport);
  return lookup->tot_len == 0 ? VIADUCT_UNUSUAL : VIADUCT_FORWARDED;
}

/* Reads a frame that arrives, without changing the frame. Sets `lookup`, in which tot_len is the
 * length that an MTU limits, and the TTL or hop limit `ttl`. Returns VIADUCT_FORWARDED if the frame
 * can be forwarded with these values: in this case `ttl` is above 1. */
static __always_inline enum viaduct_outcome read_packet(const struct __sk_buff* skb,
                                                        struct bpf_fib_lookup* lookup, __u8* ttl) {
  void* data = (void*)(long)skb->data;
  void* end = (void*)(long)skb->data_end;
  const struct ethhdr* frame = data;
  if ((void*)(frame + 1) > end || skb->vlan_present) return VIADUCT_NOT_IP;
  if (frame->h_proto == bpf_htons(ETH_P_IP)) return prepare_ipv4(skb, frame + 1, end, lookup, ttl);
  if (frame->h_proto == bpf_htons(ETH_P_IPV6))
    return prepare_ipv6(skb, frame + 1, end, lookup, ttl);
  return VIADUCT_NOT_IP;
}

/* Decreases the TTL by `hops` (at most 255) and changes the checksum (RFC 1624, equation 3), as
 * ip_decrease_ttl() does for one hop. */
static __always_inline void decrement_ttl(struct iphdr* ip, __u32 hops) {
  const __u32 sum = (__u32)ip->check + bpf_htons(hops << 8);
  ip->check = (__u16)(sum + (sum >= 0xffff));
  ip->ttl -= hops;
}

/* Changes a frame as `hops` hops do; `destination` and `source` are the MAC addresses of the frame
 * on the last wire. */
static __always_inline void rewrite(struct __sk_buff* skb, const __u8* destination,
                                    const __u8* source, __u32 hops) {
  struct ethhdr* frame = (void*)(long)skb->data;
  void* end = (void*)(long)skb->data_end;
  struct iphdr* ipv4 = (void*)(frame + 1);
  struct ipv6hdr* ipv6 = (void*)(frame + 1);
  if ((void*)(ipv4 + 1) > end) return;
  __builtin_memcpy(frame->h_dest, destination, ETH_ALEN);
  __builtin_memcpy(frame->h_source, source, ETH_ALEN);
  if (frame->h_proto == bpf_htons(ETH_P_IP)) {
    decrement_ttl(ipv4, hops);
  } else if ((void*)(ipv6 + 1) <= end) {
    ipv6->hop_limit -= hops;
  }
}
