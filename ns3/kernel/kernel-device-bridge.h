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
 * On devices that report the end of each transmission (trace source PhyTxEnd: point-to-point, CSMA)
 * a frame's buffer is returned to the kernel when the frame has left, so that the kernel's own
 * queues react to the link. A device with a NetDeviceQueueInterface (Wi-Fi, SimpleNetDevice) is
 * sent frames while the queue that the frame's DS field selects has space, and a buffer is returned
 * when a frame has left that queue, unless the queue has limits already (QueueLimits). On all
 * remaining devices it is returned when the device has accepted the frame.
 */
class KernelDeviceBridge : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param device the ns-3 device; the bridge takes over its receive callbacks
     * @param nic the kernel's device, with the same address
     */
    void Connect(Ptr<NetDevice> device, viaduct::guest::Nic& nic);
    /** ns-3's devices do not report changes of their MTU, so it is compared at each frame and at
     * each change of the link.
     * @param handler is called with a new MTU of the ns-3 device
     * @param mtu the present MTU
     */
    void WatchMtu(std::function<void(uint16_t)> handler, uint16_t mtu);
    /** Writes the frames that the kernel sends and receives to a capture file.
     * @param file the file's name
     */
    void EnablePcap(const std::string& file);
    /**
     * @param up whether the kernel's interface is up; a driver that is down would keep the frames
     * that it receives until it is up again
     */
    void SetUp(bool up)
    {
        m_up = up;
    }

    /**
     * Drops frames, in both directions, of a family that is down: a kernel's interface is up for
     * both families, ns-3's for each of them separately.
     * @param ipv4 whether IPv4 and ARP pass
     * @param ipv6 whether IPv6 passes
     */
    void SetFamilies(bool ipv4, bool ipv6)
    {
        m_ipv4 = ipv4;
        m_ipv6 = ipv6;
    }

    /** Called with a frame that the kernel has sent or will receive; valid during the call. */
    using Watch = std::function<void(std::span<const std::byte> frame, bool isSent)>;

    /** @param watch called with every frame */
    void SetWatch(Watch watch)
    {
        m_watch = std::move(watch);
    }

    /** @param frame a frame to send after the kernel's frames that wait for the device */
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

    /** A frame of the kernel on its way to the device. */
    struct Waiting
    {
        Ptr<Packet> packet;         //!< payload
        Mac48Address from;          //!< Ethernet source
        Mac48Address to;            //!< Ethernet destination
        uint16_t protocol;          //!< EtherType
        std::optional<Token> token; //!< the kernel's; none: the frame is not the kernel's
        size_t queue{0};            //!< number of the device's queue
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
    bool m_tellsEnd{false};                //!< whether the device has PhyTxEnd
    Ptr<NetDeviceQueueInterface> m_queues; //!< the device's; null: it has none, or has PhyTxEnd
    std::deque<Waiting> m_waiting;         //!< frames that the device has not accepted or not sent
    std::optional<Token> m_handed;         //!< token of the frame being passed to the device
    /**
     * Tokens of the frames in each queue of the device; none for a frame that the device created
     * itself.
     */
    std::vector<std::deque<std::optional<Token>>> m_inQueue;
    Watch m_watch;                              //!< called with every frame
    std::function<void(uint16_t)> m_mtuChanged; //!< called with a new MTU
    uint16_t m_mtu{0};                          //!< the last MTU reported
    bool m_up{true};                            //!< whether the kernel's interface is up
    bool m_ipv4{true};                          //!< SetFamilies()
    bool m_ipv6{true};                          //!< SetFamilies()
    bool m_sending{false};                      //!< the device transmits the first of m_waiting
    std::vector<std::byte> m_frame;             //!< buffer of Deliver(), reused
    std::unique_ptr<viaduct::io::PcapWriter> m_pcap; //!< null: no capture
};

} // namespace ns3

#endif // VIADUCT_KERNEL_DEVICE_BRIDGE_H
