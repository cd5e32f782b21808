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
 * Builds emulated links: each has a PathChannel, and a PathNetDevice on every connected node.
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
     * Connects nodes with one channel: two nodes with a point-to-point link, more nodes with an
     * Ethernet.
     * @param nodes the nodes; if there are two, the SPEC Up applies to the frames of the first node
     * @return the nodes' new devices, in the same order
     */
    NetDeviceContainer Install(const NodeContainer& nodes);
    /**
     * @param a the node to whose frames the SPEC Up applies
     * @param b the node to whose frames the SPEC Down applies
     * @return the nodes' new devices
     */
    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b);

  private:
    ObjectFactory m_devices;  //!< factory of the devices
    ObjectFactory m_channels; //!< factory of the channels
};

} // namespace ns3

#endif // VIADUCT_PATH_HELPER_H
