/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PATH_HELPER_H
#define VIADUCT_PATH_HELPER_H

#include "ns3/device/ethernet-trace-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

class PathNetDevice;

extern template class EthernetTraceHelper<PathNetDevice>;

/**
 * @ingroup viaduct
 * Builds emulated links: a PathChannel and a PathNetDevice for each node.
 */
class PathHelper : public EthernetTraceHelper<PathNetDevice>
{
  public:
    PathHelper();

    /**
     * @param name an attribute of PathNetDevice
     * @param value the attribute's value in the devices created after this call
     */
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value)
    {
        m_devices.Set(name, value);
    }

    /**
     * @param name an attribute of PathChannel ("Up", "Down", "Spec", "Name")
     * @param value the attribute's value in the channels created after this call
     */
    void SetChannelAttribute(const std::string& name, const AttributeValue& value)
    {
        m_channels.Set(name, value);
    }

    /**
     * Connects nodes by one channel: two by a point-to-point link, more by an Ethernet.
     * @param nodes the nodes; the first one's direction is Up
     * @return the nodes' new devices, in the same order
     */
    NetDeviceContainer Install(const NodeContainer& nodes);
    /**
     * @param a the node whose direction is Up
     * @param b the node whose direction is Down
     * @return the nodes' new devices
     */
    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b);

  private:
    ObjectFactory m_devices;  //!< makes devices
    ObjectFactory m_channels; //!< makes channels
};

} // namespace ns3

#endif // VIADUCT_PATH_HELPER_H
