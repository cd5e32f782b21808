/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ETHERNET_TRACE_HELPER_H
#define VIADUCT_ETHERNET_TRACE_HELPER_H

#include "ns3/trace-helper.h"

#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Implements EnablePcap() and EnableAscii(), which every ns-3 device helper has, for the helpers of
 * Viaduct's Ethernet devices. Devices of other types on the same nodes are ignored.
 *
 * The lines that EnableAscii() writes: "-": the device has passed a frame to its port or channel
 * (MacTx); "r": the device has received a frame (MacRx); "d": the device has dropped a frame in
 * either direction (MacTxDrop, MacRxDrop). ns-3 cannot print the headers of a frame from outside
 * the simulator: such a frame is printed as a payload of the frame's size.
 *
 * The source file of each device type's helper instantiates the template for that type
 * (ethernet-trace-helper-impl.h).
 *
 * @tparam Device the type of the devices
 */
template <class Device>
class EthernetTraceHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> device,
                             bool explicitFilename) override;
};

} // namespace ns3

#endif // VIADUCT_ETHERNET_TRACE_HELPER_H
