/* Formats of the frames of RBridges (WMRP) and of terminals, as an eBPF program reads and writes
 * them: the formats of TRILL (RFC 6325, section 3), with the inner VLAN tag. */
#pragma once

#include "plane/bpf/packet.bpf.h"

#define TYPE_TRILL 0x22f3
#define TYPE_ISIS 0x22f4
#define ALL_RBRIDGES 0x0180c2000040ull
#define ALL_ISIS_RBRIDGES 0x0180c2000041ull
#define GROUP (1ull << 40)  // the group bit of a MAC address: the lowest bit of the first byte
#define DEFAULT_VLAN 1
#define NO_VLAN 0xfff  // the reserved VLAN number
#define TRILL_SIZE 6
#define OUTER_SIZE (ETH_HLEN + TRILL_SIZE)
#define ADDRESSES_SIZE (2 * ETH_ALEN)
#define TAG_SIZE 4
#define GROWTH ((int)(sizeof(struct head) - ADDRESSES_SIZE))  // bytes that encapsulation adds

struct outer {
  __u8 destination[ETH_ALEN];
  __u8 source[ETH_ALEN];
  __be16 type;
  __be16 first;  // version, reserved bits, multi-destination bit, length of options, hop count
  __be16 egress;
  __be16 ingress;
} __attribute__((packed));

struct inner {
  __u8 destination[ETH_ALEN];
  __u8 source[ETH_ALEN];
  __be16 tag_type;
  __be16 tci;
} __attribute__((packed));

// The first bytes of an encapsulated frame, which replace the addresses of the terminal's frame.
struct head {
  struct outer outer;
  struct inner inner;
} __attribute__((packed));

static __always_inline int is_ip(__be16 type) {
  return type == bpf_htons(ETH_P_IP) || type == bpf_htons(ETH_P_IPV6);
}

static __always_inline int is_source(__u64 mac) { return mac != 0 && (mac & GROUP) == 0; }

// Returns whether the address is a bridge group address of IEEE 802.1Q or a group address of TRILL.
static __always_inline int is_link_local(__u64 mac) {
  return mac >> 4 == 0x0180c200000 || mac >> 4 == 0x0180c200004;
}

static __always_inline int is_usable(__u16 nickname) { return nickname != 0 && nickname < 0xffc0; }

static __always_inline __u16 vlan_of(const struct inner* inner) {
  const __u16 id = bpf_ntohs(inner->tci) & 0xfff;
  return id == 0 ? DEFAULT_VLAN : id;  // VLAN number 0 is a priority tag
}
