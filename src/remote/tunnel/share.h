/* Definitions for the eBPF program that shares a tunnel's socket among its clients, and for the
 * process that reads the socket. The file is C, because the program is C and the process C++. */
#pragma once

#include <linux/types.h>

/* The fixed part of a datagram's cost, for the work of the kernel and of the reader. The cost of a
 * datagram is this plus the bytes of its UDP payload. */
#define VIADUCT_SHARE_EACH 768U

/* The share of datagrams that belong to no client. */
#define VIADUCT_SHARE_FOREIGN 0U

enum viaduct_share_state {
  VIADUCT_SHARE_UNCLAIMED = 0, /* no client: the datagrams are foreign */
  VIADUCT_SHARE_CLAIMED = 1,   /* the client is the host at `source` */
  VIADUCT_SHARE_ANYONE = 2     /* no client yet: the first host that sends becomes the client */
};

/* The share of a client, or of all foreign datagrams. It has two cache lines: the eBPF program
 * writes to the first, and the process that reads the socket to the second. */
struct viaduct_share {
  __u64 queued;    /* cost of all datagrams ever let into the socket */
  __u64 lost;      /* refused datagrams of the client; foreign share: not VXLAN */
  __u64 spoofed;   /* refused foreign datagrams with its VNI; foreign share: unknown VNIs */
  __u64 datagrams; /* the number of datagrams in `queued` */
  __u64 unused[4];
  __u64 taken;     /* cost of all datagrams ever read; may be ahead of `queued` for a moment */
  __u32 state;     /* a viaduct_share_state */
  __u32 limit;     /* 1 + maximum number of its datagrams in the socket; 0: no limit */
  __u64 source[2]; /* IPv6, or IPv4 mapped (RFC 4291 section 2.5.5.2), in network byte order */
  __u64 datagrams_taken; /* the number of datagrams in `taken` */
  __u64 unused_three[3];
};

/* The sums over all shares of a socket. Two cache lines, like viaduct_share. */
struct viaduct_share_sum {
  __u64 queued;
  __u64 messages; /* refused messages; the kernel counts them among the socket's drops, too */
  __u64 unused[6];
  __u64 taken;
  __u64 room; /* the buffer's capacity, in the same unit as costs */
  __u64 unused_too[6];
};
