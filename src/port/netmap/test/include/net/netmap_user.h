// A stand-in for netmap's header net/netmap_user.h, written like the stand-in net/netmap.h.
#pragma once

#include <net/netmap.h>

#define NETMAP_DEVICE_NAME "/dev/netmap"

#define NETMAP_IF(base, offset) \
  reinterpret_cast<struct netmap_if*>(reinterpret_cast<char*>(base) + (offset))
#define NETMAP_TXRING(nifp, index) \
  reinterpret_cast<struct netmap_ring*>(reinterpret_cast<char*>(nifp) + (nifp)->ring_ofs[index])
#define NETMAP_RXRING(nifp, index) \
  NETMAP_TXRING(nifp, (index) + (nifp)->ni_tx_rings + (nifp)->ni_host_tx_rings)
#define NETMAP_BUF(ring, index)                      \
  (reinterpret_cast<char*>(ring) + (ring)->buf_ofs + \
   static_cast<size_t>(index) * (ring)->nr_buf_size)
