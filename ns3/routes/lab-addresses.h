/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_LAB_ADDRESSES_H
#define VIADUCT_LAB_ADDRESSES_H

#include "base/wire/address.h"

#include <map>
#include <memory>

namespace ns3
{

/** All addresses of a lab and the MAC addresses of their interfaces. */
using LabAddressMap = std::map<viaduct::wire::IpAddress, viaduct::wire::MacAddress>;

/** A single address map that all nodes share: one map per node would not fit in memory. */
using LabAddresses = std::shared_ptr<const LabAddressMap>;

} // namespace ns3

#endif // VIADUCT_LAB_ADDRESSES_H
