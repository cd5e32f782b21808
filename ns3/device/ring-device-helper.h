/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RING_DEVICE_HELPER_H
#define VIADUCT_RING_DEVICE_HELPER_H

#include "ns3/device/ethernet-trace-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

class RingNetDevice;

extern template class EthernetTraceHelper<RingNetDevice>;

/**
 * @ingroup viaduct
 * Installs devices on nodes: a RingNetDevice for each interface of the machine that is used.
 *
 * @code
 *   RingDeviceHelper helper;
 *   NetDeviceContainer devices = helper.Install(node, "eth1"); // as root
 *   helper.EnablePcap("node", devices);
 * @endcode
 */
class RingDeviceHelper : public EthernetTraceHelper<RingNetDevice>
{
  public:
    RingDeviceHelper();

    /**
     * @param name an attribute of RingNetDevice
     * @param value the attribute's value in the devices created after this call
     */
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value)
    {
        m_devices.Set(name, value);
    }

    /**
     * @param node the node
     * @param interface the interface's name, in the network namespace of the attribute Namespace
     * @return the node's new device
     * @throws viaduct::Error, when the node is initialized, if the interface cannot be opened
     */
    NetDeviceContainer Install(Ptr<Node> node, const std::string& interface) const;

  private:
    ObjectFactory m_devices; //!< factory of the devices
};

} // namespace ns3

#endif // VIADUCT_RING_DEVICE_HELPER_H
