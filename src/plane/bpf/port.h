/* Definitions shared by the forwarding eBPF program (forward.bpf.c) and the C++ code that loads
 * it (forward_program.cc): in C, because both languages include this file.
 *
 * The program is at the ingress of a node's interfaces ("ports"). If the program cannot forward
 * a packet exactly as the kernel would, it passes the packet to the kernel's own stack, which can
 * handle every packet, and counts the packet by the reason.
 */
#pragma once

#include <linux/types.h>

enum viaduct_outcome {
  VIADUCT_FORWARDED,    /* redirected to the other end of a wire */
  VIADUCT_NOT_IP,       /* ARP, VLAN tags, protocols other than IP */
  VIADUCT_NOT_UNICAST,  /* broadcast, multicast, or another node's frame */
  VIADUCT_UNUSUAL,      /* options, malformed headers, addresses that are not forwarded */
  VIADUCT_OWN_SOURCE,   /* the source is an address of this node: a loop or a forgery */
  VIADUCT_TTL_EXPIRES,  /* the kernel answers with an ICMP error */
  VIADUCT_TOO_LONG,     /* longer than the outgoing MTU: the kernel fragments or answers */
  VIADUCT_NOT_ROUTED,   /* for this node itself, or without a route that forwards */
  VIADUCT_NO_NEIGHBOUR, /* the kernel must resolve the neighbour's address first */
  VIADUCT_SAME_PORT,    /* leaves through its port of arrival: the kernel redirects its sender */
  VIADUCT_NOT_A_WIRE,   /* leaves through a queue, a bridge, the path engine or a device, or not to
                           the wire's other end */
  VIADUCT_OUTCOMES
};

/* An interface. Its index in the program's tables is the lower bits of its ifindex, as many as
 * are needed to distinguish a node's interfaces. */
struct viaduct_port {
  __u32 ifindex;
  __u8 is_wire;    /* whether frames may be passed directly to the other end */
  __u8 far_mac[6]; /* the MAC address of the interface at the other end */
  __u8 reserved;
};

struct viaduct_port_counters {
  __u64 packets[VIADUCT_OUTCOMES]; /* packets that arrived, by outcome */
  __u64 bytes;                     /* bytes of forwarded packets, with their Ethernet headers */
};

/* The set of the values of viaduct_own_hash() for the node's own addresses: a source address whose
 * value is not in the set is not an own address. */
struct viaduct_own_filter {
  __u64 bits[4];
};

static inline __u8 viaduct_own_hash(__u32 address) { return address * 0x9e3779b1u >> 24; }
