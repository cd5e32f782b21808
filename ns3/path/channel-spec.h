/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_CHANNEL_SPEC_H
#define VIADUCT_CHANNEL_SPEC_H

#include "ns3/net-device.h"
#include "ns3/ptr.h"

#include "path/spec/spec.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @param device a device
 * @return whether the device can become a link of a lab: PointToPointNetDevice, CsmaNetDevice,
 * SimpleNetDevice, PathNetDevice
 */
bool IsWired(Ptr<NetDevice> device);

/**
 * @ingroup viaduct
 * Returns the SPEC that a channel corresponds to for the frames of a device: the channel's delay;
 * the channel's or the device's rate with the device's queue; the error model of the receivers.
 * RateErrorModel per packet is a loss probability, per bit a bit error rate (per byte likewise).
 * CoDel, PIE and RED as root queue disc become the SPEC's queue management; FqCoDel does not,
 * because ns-3's address helper installs it on every device by default.
 *
 * @param sender the device; IsWired()
 * @param receivers the other devices of the channel
 * @param where the device's name for messages ("node n0 device 1")
 * @return the SPEC; a plain wire if the channel does nothing
 * @throw viaduct::UsageError naming the device, if the channel has an effect that a SPEC cannot
 * express
 */
viaduct::path::Spec ChannelSpec(Ptr<NetDevice> sender,
                                const std::vector<Ptr<NetDevice>>& receivers,
                                const std::string& where);

} // namespace ns3

#endif // VIADUCT_CHANNEL_SPEC_H
