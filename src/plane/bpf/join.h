/* What the program of joined paths and its user share: C, because both languages include it.
 *
 * The program stands at the ingress of the fabric's ends of wires ("ports"), which lead to the
 * nodes. A frame goes from there to the wire's other end, unless all the hops that it has before it
 * are known and add nothing to it: then it goes to the end of the last one, as they would have left
 * it.
 */
#pragma once

#include <linux/bpf.h>

#define VIADUCT_MOST_HOPS 64
/* Of the bits by which a path tells its routers; another router with the same bit costs speed. */
#define VIADUCT_ROUTER_BITS 512

enum viaduct_join_outcome {
  VIADUCT_JOINED,          /* all hops in one step */
  VIADUCT_JOIN_NOT_IP,     /* to the wire's other end: ARP, VLAN tags, other protocols */
  VIADUCT_JOIN_OTHER,      /* likewise: broadcast, multicast, or to another interface */
  VIADUCT_JOIN_UNUSUAL,    /* likewise: options, malformed headers, addresses not forwarded */
  VIADUCT_JOIN_UNKNOWN,    /* likewise: nobody has looked for the path yet */
  VIADUCT_JOIN_BY_HOP,     /* likewise: it has no hop that could be joined, or one that must not */
  VIADUCT_JOIN_EXPIRES,    /* likewise: the TTL ends on the way; that router answers */
  VIADUCT_JOIN_TOO_LONG,   /* likewise: for an interface on the way; that router cuts or answers */
  VIADUCT_JOIN_SEGMENTS,   /* likewise: many in one (GSO), of which a wire may lose some */
  VIADUCT_JOIN_MAYBE_LONG, /* likewise: for a path MTU that a router on the way may have heard of */
  VIADUCT_JOIN_OWN_SOURCE, /* likewise: from an address of a router on the way, which discards it */
  VIADUCT_JOIN_OUTCOMES
};

/* An end of a wire in the fabric, by its ifindex. */
struct viaduct_join_port {
  __u32 other;     /* the ifindex of the wire's other end in the fabric */
  __u32 loss;      /* what this direction loses: the index of its viaduct_wire_loss, plus one */
  __u8 far_mac[6]; /* of the interface behind the other end */
  __u8 reserved[2];
  __u64 packets[VIADUCT_JOIN_OUTCOMES]; /* that came in */
};

struct viaduct_join_key {
  __u32 port;           /* where it comes in */
  __u32 tos;            /* of IPv4 the part that routes may ask for: all but the ECN bits */
  __u8 destination[16]; /* an IPv4 address as ::ffff:A.B.C.D */
};

/* A direction of a wire that loses frames at random, each by itself. */
struct viaduct_wire_loss {
  struct bpf_spin_lock lock; /* of all that follows: frames are numbered as they come */
  __u32 reserved;
  __u64 random[4]; /* the state of a RandomStream (base/random.h) */
  __u64 threshold; /* a frame is lost for which the upper 53 bits drawn are less */
  __u64 arrived, arrived_bytes;
  __u64 lost, lost_bytes;
};

#define VIADUCT_NO_LOSS 0xffffffff

/* A wire of a path, beyond the first, that loses frames. It has the same index as the
 * viaduct_joined_traffic that counts what was lost there of this path. */
struct viaduct_loss_on_way {
  __u32 loss; /* the index of its viaduct_wire_loss */
  __u32 next; /* that of the next such wire, or VIADUCT_NO_LOSS */
};

/* While somebody reads one, its place is not given to another: a place in a hash map is, at once.
 */
struct viaduct_joined_path {
  struct viaduct_join_key key; /* of whom it is */
  __u32 hops;                  /* routers that it passes in one step; 0: none, it goes by hop */
  __u32 mtu;                   /* the smallest of the interfaces that these send on */
  __u32 exit;   /* the fabric's end of the last wire, beyond which is the interface that gets it */
  __u64 looked; /* when somebody was last asked to look again, in ns of CLOCK_MONOTONIC_COARSE */
  __u8 enters[6];                 /* the interface that the first router gets it on */
  __u8 destination[6], source[6]; /* of the last wire */
  __u8 reserved[2];
  __u32 first_loss; /* the index of a viaduct_loss_on_way, or VIADUCT_NO_LOSS */
  __u64 too_bigs;   /* of the program's counter, before somebody looked for the path */
  __u64 routers[VIADUCT_ROUTER_BITS / 64];
};

/* With the index of its path: what has passed all hops. */
struct viaduct_joined_traffic {
  __u64 packets;
  __u64 bytes; /* with Ethernet headers */
};
