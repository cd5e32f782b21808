// A stand-in for netmap's header net/netmap.h, written from its documentation (netmap(4)). It has
// the declarations that Viaduct uses, so that the code that uses them is compiled and tested where
// netmap is not installed. The layout is that of NETMAP_API 14; no call with these declarations
// reaches a kernel.
#pragma once

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/types.h>

#include <cstdint>

#define NETMAP_API 14

struct netmap_slot {
  uint32_t buf_idx;
  uint16_t len;
  uint16_t flags;
  uint64_t ptr;
};
#define NS_BUF_CHANGED 0x0001
#define NS_MOREFRAG 0x0020

struct netmap_ring {
  const int64_t buf_ofs;
  const uint32_t num_slots;
  const uint32_t nr_buf_size;
  const uint16_t ringid;
  const uint16_t dir;
  uint32_t head;
  uint32_t cur;
  uint32_t tail;
  uint32_t flags;
  struct timeval ts;
  const uint64_t offset_mask;
  const uint64_t buf_align;
  alignas(128) uint8_t sem[128];
  struct netmap_slot slot[];
};
#define NR_TIMESTAMP 0x0002

struct netmap_if {
  char ni_name[IFNAMSIZ];
  const uint32_t ni_version;
  const uint32_t ni_flags;
  const uint32_t ni_tx_rings;
  const uint32_t ni_rx_rings;
  uint32_t ni_bufs_head;
  const uint32_t ni_host_tx_rings;
  const uint32_t ni_host_rx_rings;
  uint32_t ni_spare1[3];
  const ssize_t ring_ofs[];
};

#define NETMAP_REQ_IFNAMSIZ 64
struct nmreq_header {
  uint16_t nr_version;
  uint16_t nr_reqtype;
  uint32_t nr_reserved;
  char nr_name[NETMAP_REQ_IFNAMSIZ];
  uint64_t nr_options;
  uint64_t nr_body;
};
enum { NETMAP_REQ_REGISTER = 1 };

struct nmreq_register {
  uint64_t nr_offset;
  uint64_t nr_memsize;
  uint32_t nr_tx_slots;
  uint32_t nr_rx_slots;
  uint16_t nr_tx_rings;
  uint16_t nr_rx_rings;
  uint16_t nr_host_tx_rings;
  uint16_t nr_host_rx_rings;
  uint16_t nr_mem_id;
  uint16_t nr_ringid;
  uint32_t nr_mode;
  uint32_t nr_extra_bufs;
  uint64_t nr_flags;
};
#define NR_EXCLUSIVE 0x800
enum { NR_REG_ALL_NIC = 1 };

#define NIOCCTRL _IOWR('i', 151, struct nmreq_header)
#define NIOCTXSYNC _IO('i', 148)
#define NIOCRXSYNC _IO('i', 149)
