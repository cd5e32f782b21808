// The definitions that the XDP program and its loader (port/xdp/program.cc) share. Read by C and
// C++.
#pragma once

#define VIADUCT_REDIRECT_INSTRUCTIONS 4096  // maximum for a filter: BPF_MAXINSNS of classic BPF
#define VIADUCT_REDIRECT_MEMORY 16          // BPF_MEMWORDS

// The filter's program: struct sock_filter of linux/filter.h.
struct viaduct_redirect_instruction {
  unsigned short code;
  unsigned char jt, jf;
  unsigned int k;
};

// The program's constants, in the order of its section .rodata.
struct viaduct_redirect_constants {
  unsigned int filter_length;  // 0: every frame matches
};
