/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/lab-fd-net-device.h"

#include "ns3/guard/frame-check.h"

#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <linux/if_packet.h>
#include <sys/socket.h>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LabFdNetDevice);

namespace
{

/** The maximum length of a frame, as in FdNetDevice. */
constexpr size_t MAX_FRAME = 65536;

/**
 * @return the 802.1Q tag that the kernel has removed from a frame (packet(7)); 0 if the kernel has
 * removed no tag
 * @param message the message header that recvmsg() has filled in with the frame
 */
uint32_t
TagOf(const msghdr& message)
{
    for (const cmsghdr* header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(header)))
    {
        if (header->cmsg_level != SOL_PACKET || header->cmsg_type != PACKET_AUXDATA)
        {
            continue;
        }
        tpacket_auxdata data;
        std::memcpy(&data, CMSG_DATA(header), sizeof(data));
        if (data.tp_status & TP_STATUS_VLAN_VALID)
        {
            const bool known = data.tp_status & TP_STATUS_VLAN_TPID_VALID;
            const uint32_t type = known ? data.tp_vlan_tpid : viaduct::wire::ether_type::kVlan;
            return type << 16 | data.tp_vlan_tci;
        }
    }
    return 0;
}

/** Inserts an 802.1Q tag after the addresses of a frame, where it was on the wire.
 * @param frame the frame, followed by space for the tag
 * @param length the length of the frame in bytes, without the tag
 * @param tag the tag, as returned by TagOf()
 */
void
Insert(uint32_t tag, uint8_t* frame, size_t length)
{
    constexpr size_t ADDRESSES = 12;
    uint8_t* const place = frame + ADDRESSES;
    std::memmove(place + viaduct::wire::VlanTag::kSize, place, length - ADDRESSES);
    viaduct::wire::Store32(reinterpret_cast<std::byte*>(place), tag);
}

} // namespace

/** Reads frames from a socket, and continues after the socket has reported an error. */
class LabFdNetDevice::Reader : public FdReader
{
  public:
    /** @return the number of frames read that the device has queued, or dropped because its queue
     * was full */
    uint64_t GetPassed() const
    {
        return m_passed;
    }

    /** @return the number of frames dropped by the kernel since the previous call */
    uint64_t TakeDrops()
    {
        tpacket_stats statistics{};
        socklen_t size = sizeof(statistics);
        // getsockopt() fails if the socket is not a packet socket.
        const bool read = getsockopt(m_fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0;
        return read ? statistics.tp_drops : 0;
    }

  private:
    Data DoRead() override
    {
        m_passed += m_holds ? 1 : 0;
        m_holds = false;
        // The buffer is allocated with malloc(), because the device releases it with free().
        auto buffer = static_cast<uint8_t*>(std::malloc(MAX_FRAME + viaduct::wire::VlanTag::kSize));
        NS_ABORT_MSG_UNLESS(buffer, "LabFdNetDevice: cannot allocate memory for a frame");
        iovec part{buffer, MAX_FRAME};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(tpacket_auxdata))];
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        // recvmsg() must not wait: the socket may have become readable only because of an error,
        // and a sender may have received this error meanwhile.
        ssize_t length = recvmsg(m_fd, &message, MSG_DONTWAIT);
        if (length <= 0)
        {
            std::free(buffer);
            const bool isOver = length == 0 || errno == EBADF || errno == ENOTSOCK;
            return {nullptr, isOver ? 0 : -1}; // 0: reading ends; -1: no frame
        }
        const uint32_t tag = TagOf(message);
        if (tag != 0 && length >= static_cast<ssize_t>(viaduct::wire::EthernetHeader::kSize))
        {
            Insert(tag, buffer, length);
            length += viaduct::wire::VlanTag::kSize;
        }
        m_holds = true;
        return {buffer, length};
    }

    std::atomic<uint64_t> m_passed{0}; //!< frames that the device has queued or dropped
    /** Whether the last frame read has not been passed to the device yet. */
    bool m_holds{false};
};

TypeId
LabFdNetDevice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LabFdNetDevice")
                            .SetParent<FdNetDevice>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<LabFdNetDevice>();
    return tid;
}

LabFdNetDevice::LabFdNetDevice()
{
    LabFdNetDevice::SetMtu(FdNetDevice::GetMtu());
}

LabFdNetDevice::~LabFdNetDevice() = default;

bool
LabFdNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return FdNetDevice::SetMtu(LongestPayload(mtu, viaduct::wire::ether_type::kVlan));
}

bool
LabFdNetDevice::SendFrom(Ptr<Packet> packet,
                         const Address& source,
                         const Address& destination,
                         uint16_t protocol)
{
    if (packet->GetSize() > LongestPayload(GetMtu(), protocol))
    {
        m_tooLong++;
        return false;
    }
    const bool sent = FdNetDevice::SendFrom(packet, source, destination, protocol);
    m_refused += sent ? 0 : 1;
    return sent;
}

uint64_t
LabFdNetDevice::GetKernelDrops()
{
    m_kernelDrops += m_reader ? m_reader->TakeDrops() : 0;
    return m_kernelDrops;
}

uint64_t
LabFdNetDevice::GetQueueDrops()
{
    const uint64_t passed = m_reader ? m_reader->GetPassed() : 0;
    const std::unique_lock lock{m_pendingReadMutex};
    const uint64_t taken = m_forwarded + m_pendingQueue.size();
    return passed - std::min(passed, taken);
}

Ptr<FdReader>
LabFdNetDevice::DoCreateFdReader()
{
    m_reader = Create<Reader>();
    return m_reader;
}

void
LabFdNetDevice::DoInitialize()
{
    // The frames that FdNetDevice forwards are counted, because it does not report the frames that
    // it drops at a full queue.
    TraceConnectWithoutContext(
        "PromiscSniffer",
        Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) { m_forwarded++; }));
    FdNetDevice::DoInitialize();
}

void
LabFdNetDevice::DoFinishStoppingDevice()
{
    m_reader = nullptr; // the reader's socket is closed
}

} // namespace ns3
