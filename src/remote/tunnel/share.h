/* Definitions shared by the program that shares a tunnel's socket among its clients and by its
 * user: C, because both languages include it. */
#pragma once

#include <linux/types.h>

/* The cost of a datagram of `length` bytes (UDP payload): its bytes, and this for the kernel's
 * and the reader's work. */
#define VIADUCT_SHARE_EACH 768U

/* The share of datagrams that belong to no client. */
#define VIADUCT_SHARE_FOREIGN 0U

enum viaduct_share_state {
  VIADUCT_SHARE_UNCLAIMED = 0, /* no client's: its datagrams are foreign */
  VIADUCT_SHARE_CLAIMED = 1,   /* of the host at `source` */
  VIADUCT_SHARE_ANYONE = 2     /* of the first host that sends; any host's until then */
};

/* The share of a client, or of foreign. Two cache lines: the program writes to the first, and
 * the user to the second. */
struct viaduct_share {
  __u64 queued;    /* cost of all datagrams ever let into the socket */
  __u64 lost;      /* its datagrams that were refused; of foreign: not VXLAN */
  __u64 spoofed;   /* foreign ones for its VNI that were refused; of foreign: unknown VNIs */
  __u64 datagrams; /* of `queued` */
  __u64 unused[4];
  __u64 taken;     /* cost of all datagrams ever read; may be ahead of `queued` for a moment */
  __u32 state;     /* viaduct_share_state */
  __u32 limit;     /* 1 + maximum number of its datagrams in the socket; 0: no limit */
  __u64 source[2]; /* IPv6, or IPv4 mapped (RFC 4291 section 2.5.5.2), in network byte order */
  __u64 datagrams_taken; /* of `taken` */
  __u64 unused_three[3];
};

/* The sums of the whole socket. Two cache lines, like viaduct_share. */
struct viaduct_share_sum {
  __u64 queued;
  __u64 messages; /* refused; the kernel counts them among the socket's drops, too */
  __u64 unused[6];
  __u64 taken;
  __u64 room; /* capacity, in the same unit as costs */
  __u64 unused_too[6];
};
