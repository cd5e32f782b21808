/* Definitions shared by the eBPF program that joins the hops of paths (join.bpf.c) and the C++
 * code that loads it (joiner.cc): in C, because both languages include this file.
 *
 * The program is at the ingress of the fabric's ends of wires ("ports"), which lead to the
 * nodes. A frame is passed from a port to the wire's other end, unless all hops of its path are
 * known and only forward it: then it is passed to the end of the last wire, as the hops would
 * have left it.
 */
#pragma once

#include <linux/bpf.h>

#define VIADUCT_MOST_HOPS 64
/* The number of bits in a path's set of routers; two routers with the same bit cost speed only. */
#define VIADUCT_ROUTER_BITS 512

/* Outcomes of a frame. All outcomes but VIADUCT_JOINED pass the frame to the wire's other end. */
enum viaduct_join_outcome {
  VIADUCT_JOINED,          /* passed over all hops in one step */
  VIADUCT_JOIN_NOT_IP,     /* ARP, VLAN tags, protocols other than IP */
  VIADUCT_JOIN_OTHER,      /* broadcast, multicast, or to another interface */
  VIADUCT_JOIN_UNUSUAL,    /* options, malformed headers, addresses not forwarded */
  VIADUCT_JOIN_UNKNOWN,    /* user space has not looked for the path yet */
  VIADUCT_JOIN_BY_HOP,     /* the path has no hop that can be joined, or one that must not be */
  VIADUCT_JOIN_EXPIRES,    /* the TTL ends at a router of the path, which answers */
  VIADUCT_JOIN_TOO_LONG,   /* longer than a router's MTU; the router fragments or answers */
  VIADUCT_JOIN_SEGMENTS,   /* many packets in one frame (GSO), of which a wire may lose some */
  VIADUCT_JOIN_MAYBE_LONG, /* maybe longer than a path MTU reported to a router of the path */
  VIADUCT_JOIN_OWN_SOURCE, /* the source is an address of a router of the path, which drops it */
  VIADUCT_JOIN_OUTCOMES
};

/* A port: an end of a wire in the fabric, indexed by its ifindex. */
struct viaduct_join_port {
  __u32 other;     /* the ifindex of the wire's other end in the fabric */
  __u32 loss;      /* index of this direction's viaduct_wire_loss, plus one; 0: no losses */
  __u8 far_mac[6]; /* MAC address of the node's interface behind the other end */
  __u8 reserved[2];
  __u64 packets[VIADUCT_JOIN_OUTCOMES]; /* packets that arrived, by outcome */
};

struct viaduct_join_key {
  __u32 port;           /* ifindex of the port of arrival */
  __u32 tos;            /* IPv4: the TOS bits that routes may depend on, all but the ECN bits */
  __u8 destination[16]; /* destination address; an IPv4 address as ::ffff:A.B.C.D */
};

/* A direction of a wire that loses frames at random, each frame independently. */
struct viaduct_wire_loss {
  struct bpf_spin_lock lock; /* protects all fields below; frames are numbered by arrival */
  __u32 reserved;
  __u64 random[4]; /* the state of a RandomStream (base/random.h) */
  __u64 threshold; /* a frame is lost if the upper 53 bits of its random number are below this */
  __u64 arrived, arrived_bytes;
  __u64 lost, lost_bytes;
};

#define VIADUCT_NO_LOSS 0xffffffff

/* A wire of a path that loses frames and is not the path's first wire. This entry has the same
 * index as the viaduct_joined_traffic that counts the frames of the path that were lost on the
 * wire. */
struct viaduct_loss_on_way {
  __u32 loss; /* the index of the wire's viaduct_wire_loss */
  __u32 next; /* the index of the path's next lossy wire, or VIADUCT_NO_LOSS */
};

/* A path over several hops: an entry of an array map, because an entry of an array is not reused
 * while a processor reads it, whereas an entry of a hash map is reused at once. */
struct viaduct_joined_path {
  struct viaduct_join_key key; /* the key of the packets that take the path */
  __u32 hops;                  /* routers passed in one step; 0: none, packets pass hop by hop */
  __u32 mtu;                   /* the minimum MTU of the interfaces that these routers send on */
  __u32 exit;     /* ifindex of the fabric's end of the last wire, at the receiving interface */
  __u64 looked;   /* time of the last request to check the path, in ns of CLOCK_MONOTONIC_COARSE */
  __u8 enters[6]; /* MAC address of the first router's receiving interface */
  __u8 destination[6], source[6]; /* MAC addresses of the frame on the last wire */
  __u8 reserved[2];
  __u32 first_loss; /* the index of the first viaduct_loss_on_way, or VIADUCT_NO_LOSS */
  __u64 too_bigs;   /* the value of the map `too_bigs` before user space looked for the path */
  __u64 routers[VIADUCT_ROUTER_BITS / 64];
};

/* The traffic that has passed all hops of the path with the same index as this entry. */
struct viaduct_joined_traffic {
  __u64 packets;
  __u64 bytes; /* bytes with Ethernet headers */
};
