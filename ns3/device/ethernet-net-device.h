/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ETHERNET_NET_DEVICE_H
#define VIADUCT_ETHERNET_NET_DEVICE_H

#include "ns3/callback.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The base class of all Ethernet devices: address, MTU, node, callbacks, trace sources.
 *
 * A frame consists of the 14-byte header and the payload, without padding and FCS. A derived class
 * sends frames (SendFrom()), reports the state of its link (IsLinkUp(), and NotifyLinkChange() at
 * each change), and passes received frames to PassUp().
 */
class EthernetNetDevice : public NetDevice
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    // Inherited from NetDevice
    void SetIfIndex(const uint32_t index) override
    {
        m_ifIndex = index;
    }

    uint32_t GetIfIndex() const override
    {
        return m_ifIndex;
    }

    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override
    {
        m_address = Mac48Address::ConvertFrom(address);
    }

    Address GetAddress() const override
    {
        return m_address;
    }

    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override
    {
        return m_mtu;
    }

    void AddLinkChangeCallback(Callback<void> callback) override
    {
        m_linkChangeCallbacks.ConnectWithoutContext(callback);
    }

    bool IsBroadcast() const override
    {
        return true;
    }

    Address GetBroadcast() const override
    {
        return Mac48Address::GetBroadcast();
    }

    bool IsMulticast() const override
    {
        return true;
    }

    Address GetMulticast(Ipv4Address multicastGroup) const override
    {
        return Mac48Address::GetMulticast(multicastGroup);
    }

    Address GetMulticast(Ipv6Address addr) const override
    {
        return Mac48Address::GetMulticast(addr);
    }

    bool IsBridge() const override
    {
        return false;
    }

    bool IsPointToPoint() const override
    {
        return false;
    }

    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override
    {
        return SendFrom(packet, m_address, dest, protocolNumber);
    }

    Ptr<Node> GetNode() const override
    {
        return m_node;
    }

    void SetNode(Ptr<Node> node) override
    {
        m_node = node;
    }

    bool NeedsArp() const override
    {
        return true;
    }

    void SetReceiveCallback(NetDevice::ReceiveCallback cb) override
    {
        m_rxCallback = cb;
    }

    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb) override
    {
        m_promiscRxCallback = cb;
    }

    bool SupportsSendFrom() const override
    {
        return true;
    }

  protected:
    /**
     * Adds the attributes Address and Mtu to a derived class. EthernetNetDevice itself does not
     * have them, because Config::SetDefault() finds only a class's own attributes, not inherited
     * ones.
     * @param tid the TypeId of a class derived from EthernetNetDevice
     * @return the same TypeId
     */
    static TypeId AddAttributes(TypeId tid);

    void DoDispose() override;

    /** Notifies the link-change callbacks that the result of IsLinkUp() has changed. */
    void NotifyLinkChange();
    /** @return whether a trace sink for received frames is connected */
    bool IsReceptionTraced() const;
    /** @return whether a trace sink for sent frames is connected */
    bool IsSendingTraced() const;
    /** @return whether a promiscuous receive callback is set */
    bool IsPromiscuous() const;
    /** Reports a frame to the trace source MacTx and the sniffers.
     * @param frame the frame, including its Ethernet header
     */
    void TraceSent(Ptr<const Packet> frame);
    /** Reports a frame to the promiscuous trace sources.
     * @param frame the frame, including its Ethernet header
     */
    void TraceReceived(Ptr<const Packet> frame);
    /**
     * @param destination the destination address of a frame
     * @return the packet type: the relation of the destination address to this device
     */
    PacketType Classify(const Mac48Address& destination) const;

    /** A received frame to pass to the layers above. */
    struct Reception
    {
        Ptr<const Packet> frame;  //!< header and payload; null if no trace sink is connected
        Ptr<Packet> payload;      //!< bytes after the Ethernet header
        uint16_t protocol;        //!< EtherType
        Mac48Address source;      //!< Ethernet source
        Mac48Address destination; //!< Ethernet destination
    };

    /** Passes a frame to the receive callbacks, and reports it to the trace sources if it is for
     * this device.
     * @param reception the frame
     */
    void PassUp(const Reception& reception);

  private:
    Ptr<Node> m_node;       //!< node that has the device
    uint32_t m_ifIndex = 0; //!< index of the device in its node
    uint16_t m_mtu = 1500;  //!< attribute Mtu
    Mac48Address m_address; //!< attribute Address

    NetDevice::ReceiveCallback m_rxCallback;               //!< receives frames for this device
    NetDevice::PromiscReceiveCallback m_promiscRxCallback; //!< receives all frames
    TracedCallback<> m_linkChangeCallbacks;                //!< called when the link's state changes

    TracedCallback<Ptr<const Packet>> m_macTxTrace;          //!< trace source MacTx
    TracedCallback<Ptr<const Packet>> m_macRxTrace;          //!< trace source MacRx
    TracedCallback<Ptr<const Packet>> m_macPromiscRxTrace;   //!< trace source MacPromiscRx
    TracedCallback<Ptr<const Packet>> m_snifferTrace;        //!< trace source Sniffer
    TracedCallback<Ptr<const Packet>> m_promiscSnifferTrace; //!< trace source PromiscSniffer
};

} // namespace ns3

#endif /* VIADUCT_ETHERNET_NET_DEVICE_H */
