/* Definitions shared by the programs of upcalls and their user: C, because both languages include
 * it. */
#pragma once

#include <linux/types.h>

/* A frame of this type (local experimental, IEEE Std 802) at the TUN device is a packet that a
 * forwarder in userspace passes up, without a header; its mark is the interface of arrival. */
#define VIADUCT_PASSED_UP 0x88b5
/* The mark of a packet that a forwarder in userspace lets the node's kernel send. */
#define VIADUCT_FORWARDED_MARK 0x56644657

/* The header before each packet that is sent up, in the byte order of the machine. */
struct viaduct_upcall_header {
  __u32 ifindex; /* the interface of arrival; 0: a program of the node sent it */
  __u32 is_copy; /* the kernel has forwarded, delivered or sent it */
};

/* Constants of the programs. */
struct viaduct_upcall_settings {
  __u64 interval;    /* between two copies of a flow, ns */
  __u32 tun_ifindex; /* the device that copies are sent to */
  __u8 copies_ipv4;
  __u8 copies_ipv6;
  __u8 reserved[2];
};
