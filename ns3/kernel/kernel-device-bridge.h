/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_DEVICE_BRIDGE_H
#define VIADUCT_KERNEL_DEVICE_BRIDGE_H

#include "ns3/mac48-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/net-device.h"
#include "ns3/object.h"
#include "ns3/packet.h"

#include "base/wire/ethernet.h"
#include "guest/virtio/nic.h"
#include "port/pcap_writer.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Carries frames between a kernel's network device and an ns-3 device, in both directions.
 *
 * The bridge returns a frame's buffer to the kernel at a time that depends on the device. If the
 * device reports the end of each transmission (trace source PhyTxEnd: point-to-point, CSMA), the
 * buffer is returned when the frame has left, so that the kernel's own queues react to the link. If
 * the device has a NetDeviceQueueInterface (Wi-Fi, SimpleNetDevice), the frame's DS field selects
 * one of the device's queues. The bridge passes the frame to the device when this queue has space,
 * and returns the buffer when the frame has left the queue. If the queue already has ns-3's
 * QueueLimits, and on all other devices, the buffer is returned when the device has accepted the
 * frame.
 */
class KernelDeviceBridge : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** Begins to carry frames between two devices.
     * @param device the ns-3 device; the bridge takes over the device's receive callbacks
     * @param nic the kernel's device, which has the same address as the ns-3 device
     */
    void Connect(Ptr<NetDevice> device, viaduct::guest::Nic& nic);
    /** Sets a handler for changes of the MTU. ns-3's devices do not report such changes, so the
     * bridge compares the MTU at each frame and at each change of the link.
     * @param handler the function that is called with a new MTU of the ns-3 device
     * @param mtu the current MTU of the ns-3 device
     */
    void WatchMtu(std::function<void(uint16_t)> handler, uint16_t mtu);
    /** Writes the frames that the kernel sends and receives to a capture file.
     * @param file the file's name
     */
    void EnablePcap(const std::string& file);
    /** Sets whether received frames are passed to the kernel. If the kernel's interface is down,
     * frames must be dropped, as the driver would keep them until the interface is up again.
     * @param up whether the kernel's interface is up
     */
    void SetUp(bool up)
    {
        m_up = up;
    }

    /**
     * Makes the bridge drop the frames of IPv4 or IPv6 in both directions. In ns-3 an interface
     * can be down for one of IPv4 and IPv6; in a kernel an interface is up or down for both.
     * @param ipv4 whether IPv4 and ARP pass
     * @param ipv6 whether IPv6 passes
     */
    void SetFamilies(bool ipv4, bool ipv6)
    {
        m_ipv4 = ipv4;
        m_ipv6 = ipv6;
    }

    /** A function that is called with a frame that the kernel has sent or will receive; the frame
     * is valid during the call. */
    using Watch = std::function<void(std::span<const std::byte> frame, bool isSent)>;

    /** Sets the function that is called with every frame that the kernel sends or receives.
     * @param watch the function */
    void SetWatch(Watch watch)
    {
        m_watch = std::move(watch);
    }

    /** Sends a frame after the frames of the kernel that wait for the ns-3 device.
     * @param frame the Ethernet frame
     */
    void Inject(std::span<const std::byte> frame);

    /** @return the kernel's device */
    viaduct::guest::Nic& GetNic() const
    {
        return *m_nic;
    }

  protected:
    void DoDispose() override;

  private:
    using Token = viaduct::guest::Nic::Token;

    /** A frame that waits for the ns-3 device. */
    struct Waiting
    {
        Ptr<Packet> packet;         //!< payload of the frame
        Mac48Address from;          //!< Ethernet source
        Mac48Address to;            //!< Ethernet destination
        uint16_t protocol;          //!< EtherType
        std::optional<Token> token; //!< token of the kernel's frame; none: frame of Inject()
        size_t queue{0};            //!< number of the device's queue for the frame
    };

    void Transmit(std::span<const std::byte> frame, Token token);
    void Pass(const viaduct::wire::EthernetHeader& header,
              std::span<const std::byte> frame,
              std::optional<Token> token);
    void Return(std::optional<Token> token);
    void ConnectQueues();
    size_t ChooseQueue(const Waiting& frame) const;
    void SendNext();
    void SendWhereRoom();
    void Entered(size_t queue);
    void Left(size_t queue);
    bool Send(const Waiting& frame);
    void Ended(Ptr<const Packet> packet);
    void Complete();
    bool Ignore(Ptr<NetDevice> device,
                Ptr<const Packet> packet,
                uint16_t protocol,
                const Address& from);
    bool Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from);
    bool ReceivePromiscuous(Ptr<NetDevice> device,
                            Ptr<const Packet> packet,
                            uint16_t protocol,
                            const Address& from,
                            const Address& to,
                            NetDevice::PacketType type);
    void Deliver(Ptr<const Packet> packet, uint16_t protocol, const Address& from, Mac48Address to);
    bool IsDown(uint16_t protocol) const;
    void LinkChanged();
    void CheckMtu();
    Mac48Address OwnAddress() const;
    void Capture(std::span<const std::byte> frame);

    Ptr<NetDevice> m_device;               //!< the ns-3 device
    viaduct::guest::Nic* m_nic{nullptr};   //!< the kernel's device
    bool m_tellsEnd{false};                //!< whether m_device has trace source PhyTxEnd
    Ptr<NetDeviceQueueInterface> m_queues; //!< queues of m_device; null: none, or PhyTxEnd is used
    std::deque<Waiting> m_waiting;         //!< frames not yet accepted or sent by m_device
    std::optional<Token> m_handed;         //!< token of the frame being passed to the device
    /**
     * The tokens of the frames in each queue of the device; a frame that the device created itself
     * has no token.
     */
    std::vector<std::deque<std::optional<Token>>> m_inQueue;
    Watch m_watch;                                   //!< function set by SetWatch(); or null
    std::function<void(uint16_t)> m_mtuChanged;      //!< handler set by WatchMtu()
    uint16_t m_mtu{0};                               //!< last MTU passed to m_mtuChanged
    bool m_up{true};                                 //!< whether the kernel's interface is up
    bool m_ipv4{true};                               //!< whether IPv4 and ARP pass
    bool m_ipv6{true};                               //!< whether IPv6 passes
    bool m_sending{false};                           //!< whether m_waiting.front() is being sent
    std::vector<std::byte> m_frame;                  //!< buffer of Deliver(), reused
    std::unique_ptr<viaduct::io::PcapWriter> m_pcap; //!< capture file; null: none
};

} // namespace ns3

#endif // VIADUCT_KERNEL_DEVICE_BRIDGE_H
