/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_UNJOINED_FRAMES_H
#define VIADUCT_UNJOINED_FRAMES_H

#include "ns3/payload/held-payloads.h"

#include "port/port.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The held payloads of frames that wait in a BurstPort to be sent. Each frame is joined with
 * its payload only when the frame is sent.
 *
 * A payload that is still in its received frame is not copied: the headers of the frame to send are
 * written into the received frame, before the payload. The port copies a frame when it takes the
 * frame, so that two frames to send may use the same payload one after the other.
 */
class UnjoinedFrames
{
  public:
    /**
     * Adds a frame.
     * @param slot the frame's slot, the result of BurstPort::CommitUnfinished()
     * @param payload the payload at the end of the slot's frame
     */
    void Add(uint32_t slot, HeldPayload* payload)
    {
        if (slot >= m_payloads.size())
        {
            m_payloads.resize(slot + 1);
        }
        m_payloads[slot] = payload;
        payload->uses++;
    }

    /** @copydoc BurstPortUser::Finish() */
    viaduct::io::FrameToSend Finish(uint32_t slot, std::span<std::byte> frame)
    {
        HeldPayload& payload = *m_payloads[slot];
        const size_t headers = frame.size() - payload.bytes.size();
        if (payload.room < headers || payload.borrowed)
        {
            std::memcpy(&frame[headers], payload.bytes.data(), payload.bytes.size());
            return frame;
        }
        payload.borrowed = true;
        // The cast is valid: the received frame belongs to the port that received it, and the port
        // permits writes to it.
        auto* const start = const_cast<std::byte*>(payload.bytes.data()) - headers;
        std::memcpy(start, frame.data(), headers);
        return {start, frame.size()};
    }

    /** @copydoc BurstPortUser::HandleOffered() */
    void HandleOffered(uint32_t slot, bool taken)
    {
        HeldPayload& payload = *m_payloads[slot];
        payload.borrowed = false;
        payload.uses -= taken ? 1 : 0;
    }

  private:
    std::vector<HeldPayload*> m_payloads; //!< the frames' payloads, by slot
};

} // namespace ns3

#endif /* VIADUCT_UNJOINED_FRAMES_H */
