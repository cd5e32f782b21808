/* What the program that shares a tunnel's socket among its clients and its user share: C, because
 * both languages include it. */
#pragma once

#include <linux/types.h>

/* What a datagram of `length` bytes (UDP payload) costs: its bytes, and the kernel's and the
 * reader's work for it. */
#define VIADUCT_SHARE_EACH 768U

/* The share of what is no client's. */
#define VIADUCT_SHARE_STRANGERS 0U

enum viaduct_share_state {
  VIADUCT_SHARE_UNCLAIMED = 0, /* nobody's: what comes for it is a stranger's */
  VIADUCT_SHARE_CLAIMED = 1,   /* of the host at `source` */
  VIADUCT_SHARE_ANYONE = 2     /* of whoever sends first; anybody's until then */
};

/* Of a client, or of strangers. Two cache lines: the program writes to the first, and the user to
 * the second. */
struct viaduct_share {
  __u64 queued;    /* cost of what it was let have in the socket, ever */
  __u64 lost;      /* its datagrams that were refused; of strangers: not VXLAN */
  __u64 spoofed;   /* others' for its VNI that were refused; of strangers: unknown VNIs */
  __u64 datagrams; /* of `queued` */
  __u64 unused[4];
  __u64 taken;     /* cost of what was read, ever; may be ahead of `queued` for a moment */
  __u32 state;     /* viaduct_share_state */
  __u32 limit;     /* 1 + how many of its datagrams may be in the socket; 0: any number */
  __u64 source[2]; /* IPv6, or IPv4 mapped (RFC 4291 section 2.5.5.2), in network byte order */
  __u64 datagrams_taken; /* of `taken` */
  __u64 unused_three[3];
};

/* The whole socket's. Two cache lines, like those. */
struct viaduct_share_sum {
  __u64 queued;
  __u64 messages; /* refused; the kernel counts them among the socket's drops, too */
  __u64 unused[6];
  __u64 taken;
  __u64 room; /* in the same unit as costs */
  __u64 unused_too[6];
};
