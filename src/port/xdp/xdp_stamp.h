// The time stamp that the XDP program (port/xdp/redirect.bpf.c) writes before a frame that it
// passes to an AF_XDP socket. C and C++ include this header.
#pragma once

#define VIADUCT_XDP_STAMP 0x5644785374616d70ULL  // "VDxStamp" in ASCII

struct viaduct_xdp_stamp {
  unsigned long long magic;        // VIADUCT_XDP_STAMP
  unsigned long long nanoseconds;  // CLOCK_MONOTONIC: when the program saw the frame
};
