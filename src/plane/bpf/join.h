/* Definitions shared by the program of joined paths and its user: C, because both languages include
 * it.
 *
 * The program is at the ingress of the fabric's ends of wires ("ports"), which lead to the nodes. A
 * frame is passed from there to the wire's other end, unless all hops before it are known and add
 * nothing to it: then it is passed to the end of the last wire, as the hops would have left it.
 */
#pragma once

#include <linux/bpf.h>

#define VIADUCT_MOST_HOPS 64
/* The number of bits in a path's set of routers; another router with the same bit costs speed. */
#define VIADUCT_ROUTER_BITS 512

/* All outcomes but VIADUCT_JOINED pass the frame to the wire's other end. */
enum viaduct_join_outcome {
  VIADUCT_JOINED,          /* all hops in one step */
  VIADUCT_JOIN_NOT_IP,     /* ARP, VLAN tags, other protocols */
  VIADUCT_JOIN_OTHER,      /* broadcast, multicast, or to another interface */
  VIADUCT_JOIN_UNUSUAL,    /* options, malformed headers, addresses not forwarded */
  VIADUCT_JOIN_UNKNOWN,    /* user space has not looked for the path yet */
  VIADUCT_JOIN_BY_HOP,     /* the path has no hop that could be joined, or one that must not */
  VIADUCT_JOIN_EXPIRES,    /* the TTL ends on the way; the router there answers */
  VIADUCT_JOIN_TOO_LONG,   /* for an interface on the way; the router there fragments or answers */
  VIADUCT_JOIN_SEGMENTS,   /* many packets in one (GSO), of which a wire may lose some */
  VIADUCT_JOIN_MAYBE_LONG, /* for a path MTU that may have been reported to a router on the way */
  VIADUCT_JOIN_OWN_SOURCE, /* from an address of a router on the way, which discards it */
  VIADUCT_JOIN_OUTCOMES
};

/* An end of a wire in the fabric, indexed by its ifindex. */
struct viaduct_join_port {
  __u32 other;     /* the ifindex of the wire's other end in the fabric */
  __u32 loss;      /* index of this direction's viaduct_wire_loss, plus one; 0: no losses */
  __u8 far_mac[6]; /* MAC address of the interface behind the other end */
  __u8 reserved[2];
  __u64 packets[VIADUCT_JOIN_OUTCOMES]; /* arrived, by outcome */
};

struct viaduct_join_key {
  __u32 port;           /* ifindex of the port of arrival */
  __u32 tos;            /* IPv4: the part that routes may depend on, all but the ECN bits */
  __u8 destination[16]; /* an IPv4 address as ::ffff:A.B.C.D */
};

/* A direction of a wire that loses frames at random, each independently. */
struct viaduct_wire_loss {
  struct bpf_spin_lock lock; /* of all fields below: frames are numbered in order of arrival */
  __u32 reserved;
  __u64 random[4]; /* the state of a RandomStream (base/random.h) */
  __u64 threshold; /* a frame is lost if the upper 53 bits of its random number are less */
  __u64 arrived, arrived_bytes;
  __u64 lost, lost_bytes;
};

#define VIADUCT_NO_LOSS 0xffffffff

/* A wire of a path, after the first, that loses frames. It has the same index as the
 * viaduct_joined_traffic that counts the frames of this path that were lost there. */
struct viaduct_loss_on_way {
  __u32 loss; /* the index of its viaduct_wire_loss */
  __u32 next; /* the index of the next such wire, or VIADUCT_NO_LOSS */
};

/* An entry of an array map: its place is not reused while a processor reads it, whereas a place in
 * a hash map is reused at once. */
struct viaduct_joined_path {
  struct viaduct_join_key key; /* of the packets that take it */
  __u32 hops;                  /* routers passed in one step; 0: none, it is passed hop by hop */
  __u32 mtu;                   /* smallest MTU of the interfaces that these routers send on */
  __u32 exit;     /* the fabric's end of the last wire, beyond which is the receiving interface */
  __u64 looked;   /* time of the last request to look again, in ns of CLOCK_MONOTONIC_COARSE */
  __u8 enters[6]; /* the first router's receiving interface */
  __u8 destination[6], source[6]; /* on the last wire */
  __u8 reserved[2];
  __u32 first_loss; /* the index of a viaduct_loss_on_way, or VIADUCT_NO_LOSS */
  __u64 too_bigs;   /* the program's counter before user space looked for the path */
  __u64 routers[VIADUCT_ROUTER_BITS / 64];
};

/* The traffic that has passed all hops of the path with the same index. */
struct viaduct_joined_traffic {
  __u64 packets;
  __u64 bytes; /* with Ethernet headers */
};
