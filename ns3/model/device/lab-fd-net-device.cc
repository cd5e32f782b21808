/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lab-fd-net-device.h"

#include "ns3/frame-check.h"

#include <cerrno>
#include <cstdlib>
#include <sys/socket.h>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LabFdNetDevice);

namespace
{

/** Reads frames from a socket, also after it has reported an error. */
class SocketReader : public FdReader
{
  private:
    /** The longest frame, as in FdNetDevice. */
    static constexpr size_t LONGEST_FRAME = 65536;

    Data DoRead() override
    {
        // The device frees it, by free().
        auto buffer = static_cast<uint8_t*>(std::malloc(LONGEST_FRAME));
        NS_ABORT_MSG_UNLESS(buffer, "LabFdNetDevice: no memory for a frame");
        // Without waiting: a sender may have taken the error for which the socket was readable.
        const ssize_t length = recv(m_fd, buffer, LONGEST_FRAME, MSG_DONTWAIT);
        if (length > 0)
        {
            return {buffer, length};
        }
        std::free(buffer);
        const bool isOver = length == 0 || errno == EBADF || errno == ENOTSOCK;
        return {nullptr, isOver ? 0 : -1}; // -1: nothing to process, and reading goes on
    }
};

} // namespace

TypeId
LabFdNetDevice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LabFdNetDevice")
                            .SetParent<FdNetDevice>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<LabFdNetDevice>();
    return tid;
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

Ptr<FdReader>
LabFdNetDevice::DoCreateFdReader()
{
    return Create<SocketReader>();
}

} // namespace ns3
