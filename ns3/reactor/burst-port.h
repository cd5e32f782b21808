/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_BURST_PORT_H
#define VIADUCT_BURST_PORT_H

#include "ns3/reactor/port-driver.h"

#include "port/port.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The user of a BurstPort: receives its frames and its notifications.
 */
class BurstPortUser
{
  public:
    virtual ~BurstPortUser() = default;

    /** Handles one frame, in the node's context.
     * @param frame the frame as received from the port; valid during the call
     */
    virtual void HandleFrame(const viaduct::io::ReceivedFrame& frame) = 0;
    /** Reports that the frames passed to HandleFrame() become invalid; more calls of HandleFrame()
     * may follow. */
    virtual void HandleReturn()
    {
    }

    /**
     * Completes a frame that was queued by CommitUnfinished(). The frame is offered to the port
     * directly after the call.
     * @param slot the result of CommitUnfinished()
     * @param frame the space, as long as the complete frame, in which the user has written the
     * beginning of the frame
     * @return the complete frame, in this space or in memory that is valid until HandleOffered()
     */
    virtual viaduct::io::FrameToSend Finish(uint32_t /* slot */, std::span<std::byte> frame)
    {
        return frame;
    }

    /**
     * Reports that a frame that Finish() has completed was offered to the port.
     * @param slot the result of CommitUnfinished()
     * @param taken false if the frame will be completed and offered again
     */
    virtual void HandleOffered(uint32_t /* slot */, bool /* taken */)
    {
    }

    /**
     * Reports the lateness of a frame that was received and processed, or that the port has
     * accepted. Called under the reactor only.
     * @param sent true for a frame that the port has accepted, false for a received frame
     * @param lateness the lateness, as defined by PortTiming
     */
    virtual void HandleLateness(bool /* sent */, viaduct::Duration /* lateness */)
    {
    }

    /** Reports that Reserve() has space again after HasRoom() has returned false. */
    virtual void HandleRoom()
    {
    }

    /**
     * Reports that frames have left the port, or were dropped by the port. Called only if
     * TrackFlight() was called; in the node's context and, under the reactor, not within an event.
     */
    virtual void HandleTransmitted(uint64_t /* bytes of the frames */)
    {
    }
};

/**
 * @ingroup viaduct
 * @brief Passes bursts of frames between a viaduct::io::AnyPort and a user in ns-3.
 *
 * Under ns3::ReactorSimulatorImpl the port is read in the loop, and frames to send leave as one
 * burst at the end of the turn. Under ns3::RealtimeSimulatorImpl a thread reads the port and passes
 * frames on with one event per burst.
 */
class BurstPort : private ReactorFlush
{
  public:
    /**
     * @param user receives the frames; must outlive this object
     */
    explicit BurstPort(BurstPortUser& user);
    ~BurstPort() override;
    BurstPort(const BurstPort&) = delete;
    BurstPort& operator=(const BurstPort&) = delete;

    /** The sizes of the rings, in frames, and of a frame, in bytes. */
    struct Sizes
    {
        uint32_t burst = 64;     //!< maximum number of frames received at once
        uint32_t queue = 256;    //!< maximum number of frames waiting to be sent
        uint32_t pending = 1000; //!< maximum number of read frames that wait for the simulator
        uint32_t frame = 1536;   //!< maximum length of a frame to send, bytes
    };

    /** Replaces the port; reading continues if it had been started. Frames waiting to be sent
     * remain queued.
     * @param port the new port, owned by this object; may be null
     */
    void SetPort(std::unique_ptr<viaduct::io::AnyPort> port);

    /** @return the port; null if there is none */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_port.get();
    }

    /**
     * Allocates the rings; must be called before all other functions. Frames waiting to be sent are
     * lost.
     * @param sizes the sizes of the rings and of a frame
     * @return the number of lost frames
     */
    uint32_t SetSizes(const Sizes& sizes);

    /** Discards the frames that wait to be sent. @return the number of discarded frames */
    uint32_t Discard();

    /** @return the maximum length of a frame to send (Sizes::frame), bytes */
    uint32_t GetFrameSize() const
    {
        return m_sizes.frame;
    }

    /**
     * Starts reading the port.
     * @param nodeId the node in whose context frames are received
     * @param ignoreStamps whether to ignore the time stamps of received frames
     */
    void Start(uint32_t nodeId, bool ignoreStamps = false);

    /** Stops reading, and sends waiting frames as far as the port accepts them. */
    void Stop();

    /** Enables calls of BurstPortUser::HandleTransmitted(). Costs a system call per burst. */
    void TrackFlight()
    {
        m_tracksFlight = true;
    }

    /**
     * @return the number of bytes of frames that are queued in this object or in the port's kernel
     * or driver, as known when BurstPortUser::HandleTransmitted() was last called; 0 without
     * TrackFlight()
     */
    uint64_t GetBytesInFlight() const
    {
        return m_inFlight;
    }

    /** Sends queued frames if the ring is full. @return whether Reserve() has space for a frame */
    bool HasRoom();

    /** Reserves space for one frame to send. Sends queued frames if there is no space.
     * @return Sizes::frame bytes to be filled in before Commit(); empty if the port accepts no more
     * frames
     */
    std::span<std::byte> Reserve();

    /**
     * Queues the frame written to the space that Reserve() returned.
     * @param length the length of the frame, bytes
     */
    void Commit(uint32_t length);

    /**
     * Queues a frame that BurstPortUser::Finish() will complete.
     * @param length the length of the complete frame, bytes
     * @return the frame's slot
     */
    uint32_t CommitUnfinished(uint32_t length);

    /** Sends queued frames now, not at the end of the turn, as far as the port accepts them. */
    void SendNow()
    {
        Transmit();
    }

    /**
     * Sends a frame longer than Sizes::frame, in order with the queued frames.
     * @param frame the frame's bytes
     * @return false if the port accepts no more frames
     */
    bool SendLong(viaduct::io::FrameToSend frame);

    /** @return the lateness of frames */
    const PortTiming& GetTiming() const
    {
        return m_timing;
    }

    /** @return the number of frames that have arrived but not reached the user, as far as the port
     * reports them */
    uint64_t CountToReceive() const;

    /** @return the number of frames that wait in this object to be sent */
    uint32_t CountToSend() const
    {
        return m_txCount;
    }

    /** @return the number of frames dropped by the reading thread because the simulator was too
     * slow */
    uint64_t GetReaderDrops() const;

  private:
    bool FlushTurn() override;
    /** Sends frames until the port accepts no more. */
    void Transmit();
    /** Lets the user complete the unfinished frames among @p count frames from slot @p first. */
    void FinishFrames(uint32_t first, uint32_t count);
    /** Notifies the user that @p count frames from slot @p first were offered to the port, which
     * has accepted @p taken of them. */
    void TellOffered(uint32_t first, uint32_t count, uint32_t taken);
    /** Notifies the user of sent frames and of free space. @return whether there was a
     * notification */
    bool TellUser();
    /** Requests a call of FlushTurn() for the time when frames leave the port, if the port has any
     * frames of this user. @return false if FlushTurn() must be called again after a delay instead
     */
    bool Await();
    /** Requests a call of Transmit() at the end of the turn. */
    void RequestTransmit();
    /** @return the slot for the next frame */
    size_t FreeSlot() const;

    BurstPortUser& m_user;                        //!< receives the frames
    std::unique_ptr<viaduct::io::AnyPort> m_port; //!< the port
    std::shared_ptr<PortDriver> m_driver;         //!< drives the port from Start() to Stop()
    bool m_started = false;                       //!< true between Start() and Stop()
    uint32_t m_nodeId = 0;                        //!< node in whose context frames are received
    bool m_ignoreStamps = false;                  //!< whether to ignore frames' stamps
    Sizes m_sizes;                                //!< sizes of the rings
    uint64_t m_formerReaderDrops = 0;             //!< frames that stopped drivers have dropped
    PortTiming m_timing;                          //!< lateness of frames

    std::vector<std::byte> m_txBuffer;                //!< slots of Sizes::frame bytes
    std::vector<viaduct::io::FrameToSend> m_txFrames; //!< the frame in each slot
    std::vector<viaduct::Instant> m_txDue;            //!< virtual time at which each was queued
    std::vector<bool> m_txUnfinished;                 //!< whether the user must complete the frame
    uint32_t m_unfinished = 0;                        //!< number of unfinished frames
    uint32_t m_txHead = 0;                            //!< slot of the oldest frame
    uint32_t m_txCount = 0;                           //!< number of waiting frames
    bool m_refused = false;                           //!< whether the port refused a frame
    bool m_full = false;                              //!< whether HasRoom() was false
    bool m_flushRequested = false;                    //!< whether a call of Transmit() is pending
    bool m_tracksFlight = false;                      //!< whether TrackFlight() was called
    uint64_t m_inFlight = 0;                          //!< bytes of frames that have not left yet
    uint64_t m_waiting = 0;                           //!< bytes of the frames in m_txFrames
};

} // namespace ns3

#endif /* VIADUCT_BURST_PORT_H */
