/* Definitions shared by the eBPF programs of packets that are sent up to the simulator
 * (upcall.bpf.c) and the C++ code that loads them: in C, because both languages include this
 * file. */
#pragma once

#include <linux/types.h>

/* The EtherType (local experimental, IEEE Std 802) with which a forwarder in userspace sends a
 * packet up through the TUN device. The packet has no upcall header; its mark is the ifindex of
 * the interface of arrival. */
#define VIADUCT_PASSED_UP 0x88b5
/* The mark of a packet that a forwarder in userspace makes the node's kernel send. */
#define VIADUCT_FORWARDED_MARK 0x56644657

/* The header before each packet that is sent up, in the byte order of the machine. */
struct viaduct_upcall_header {
  __u32 ifindex; /* the interface of arrival; 0: a program of the node sent the packet */
  __u32 is_copy; /* the kernel has itself forwarded, delivered or sent the packet, too */
};

/* Constants of the upcall programs, which the loader sets. */
struct viaduct_upcall_settings {
  __u64 interval;    /* minimum time between two copies of packets of a flow, ns */
  __u32 tun_ifindex; /* the TUN device that copies are sent to */
  __u8 copies_ipv4;
  __u8 copies_ipv6;
  __u8 reserved[2];
};
