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
 * Returns the SPEC that is equivalent to a channel for the frames that a device sends. The SPEC has
 * the channel's delay, the rate of the channel or device with the device's queue, and the error
 * model of the receivers. A RateErrorModel with errors per packet becomes a loss probability; a
 * RateErrorModel with errors per bit or byte becomes a bit error rate. A root queue disc CoDel,
 * PIE, FqPIE or RED becomes the SPEC's queue management. FqCoDel is ignored, because ns-3's address
 * helper installs it on every device by default.
 *
 * @param sender the device that sends the frames, for which IsWired() is true
 * @param receivers the other devices of the channel
 * @param where the device's name for messages ("node n0 device 1")
 * @return the SPEC; the SPEC of a plain wire if the channel has no effect on frames
 * @throw viaduct::UsageError naming the device, if the channel has an effect that a SPEC cannot
 * express
 */
viaduct::path::Spec ChannelSpec(Ptr<NetDevice> sender,
                                const std::vector<Ptr<NetDevice>>& receivers,
                                const std::string& where);

} // namespace ns3

#endif // VIADUCT_CHANNEL_SPEC_H
