/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_GLOBAL_ROUTING_CLASS_H
#define VIADUCT_GLOBAL_ROUTING_CLASS_H

/**
 * @file
 * @ingroup viaduct
 * Includes the header of ns3::Ipv4GlobalRouting, whose name changed with ns-3.45.
 */

#if __has_include("ns3/global-routing.h")
#include "ns3/global-routing.h"
#else
#include "ns3/ipv4-global-routing.h"
#endif

#endif // VIADUCT_GLOBAL_ROUTING_CLASS_H
