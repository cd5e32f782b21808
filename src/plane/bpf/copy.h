/* Definitions shared by the eBPF program that discards the kernel's copies of frames
 * (copy.bpf.c) and the C++ code that loads it (copy_filter.cc): in C, because both languages
 * include this file. */
#pragma once

#include <linux/types.h>

/* The receiver of the packets whose destination is in a network. */
enum viaduct_copy_taker {
  VIADUCT_COPY_KERNEL = 1, /* the kernel: its copy passes */
  VIADUCT_COPY_FORWARDER   /* the forwarder: the kernel's copy is discarded */
};

/* Bits for the families of IP whose copies are discarded. */
#define VIADUCT_COPY_IPV4 1U
#define VIADUCT_COPY_IPV6 2U

/* Keys of the networks in the longest-prefix tries. The address is in network byte order. */
struct viaduct_copy_network4 {
  __u32 length;
  __u8 address[4];
};
struct viaduct_copy_network6 {
  __u32 length;
  __u8 address[16];
};
