/* What the forwarding program and its user share: C, because both languages include it.
 *
 * The program stands at the ingress of a node's interfaces ("ports"). A packet that it cannot
 * forward exactly as the kernel would goes on to the kernel's own stack, which is complete behind
 * it, and is counted by the cause.
 */
#pragma once

#include <linux/types.h>

enum viaduct_outcome {
  VIADUCT_FORWARDED,    /* redirected to the other end of a wire */
  VIADUCT_NOT_IP,       /* ARP, VLAN tags, other protocols */
  VIADUCT_NOT_UNICAST,  /* broadcast, multicast, or another node's frame */
  VIADUCT_UNUSUAL,      /* options, malformed headers, addresses that are not forwarded */
  VIADUCT_OWN_SOURCE,   /* it claims to come from this node: a loop or a forgery */
  VIADUCT_TTL_EXPIRES,  /* the kernel answers with an ICMP error */
  VIADUCT_TOO_LONG,     /* for the outgoing interface: fragmented, or answered */
  VIADUCT_NOT_ROUTED,   /* for this node itself, or without a route that forwards */
  VIADUCT_NO_NEIGHBOUR, /* whose address the kernel still has to resolve */
  VIADUCT_SAME_PORT,    /* leaves where it came in: the kernel redirects its sender */
  VIADUCT_NOT_A_WIRE,   /* leaves through a queue, a bridge, the path engine or a device, or not to
                           the wire's other end */
  VIADUCT_OUTCOMES
};

/* One interface. Its place in the tables is the lower bits of its ifindex, as many as tell a node's
 * interfaces apart. */
struct viaduct_port {
  __u32 ifindex;
  __u8 is_wire;    /* frames may go straight to its other end */
  __u8 far_mac[6]; /* the address of that */
  __u8 reserved;
};

struct viaduct_port_counters {
  __u64 packets[VIADUCT_OUTCOMES]; /* that came in */
  __u64 bytes;                     /* of those forwarded, with their Ethernet headers */
};

/* Which values of viaduct_own_hash() are those of own addresses: most sources are ruled out. */
struct viaduct_own_filter {
  __u64 bits[4];
};

static inline __u8 viaduct_own_hash(__u32 address) { return address * 0x9e3779b1u >> 24; }
