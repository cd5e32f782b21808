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
 * @brief The receiver of the frames of a BurstPort.
 */
class BurstPortUser
{
  public:
    virtual ~BurstPortUser() = default;

    /** Handles one frame, in the node's context.
     * @param frame the frame as received from the port; valid during the call
     */
    virtual void HandleFrame(const viaduct::io::ReceivedFrame& frame) = 0;
    /** Ends the validity of the frames that HandleFrame() has received; more frames may follow. */
    virtual void HandleReturn()
    {
    }

    /**
     * Completes a frame that was queued by CommitUnfinished(), to be sent during this call's turn.
     * @param slot the result of CommitUnfinished()
     * @param frame the space in which the user has written the beginning; of the whole frame's size
     * @return the whole frame: in that space, or elsewhere until HandleOffered()
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
     * Reports that a frame was processed, or taken by the port; under the reactor only.
     * @param sent true: taken by the port
     * @param lateness see PortTiming
     */
    virtual void HandleLateness(bool /* sent */, viaduct::Duration /* lateness */)
    {
    }

    /** Reports that Reserve() has space again after HasRoom() was false. */
    virtual void HandleRoom()
    {
    }

    /**
     * Reports that frames have left the port, or were dropped by it; with TrackFlight() only.
     * Called in the node's context, not within an event.
     */
    virtual void HandleTransmitted(uint64_t /* bytes of these frames */)
    {
    }
};

/**
 * @ingroup viaduct
 * @brief Bursts between a viaduct::io::AnyPort and a user in ns-3.
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

    /** Sizes; the rings' sizes are in frames. */
    struct Sizes
    {
        uint32_t burst = 64;     //!< frames received at once
        uint32_t queue = 256;    //!< frames waiting to be sent
        uint32_t pending = 1000; //!< frames read by the thread, not yet processed by the simulator
        uint32_t frame = 1536;   //!< maximum length of a frame to send, bytes
    };

    /** Replaces the port; reading continues if it had been started. Frames waiting to be sent stay.
     * @param port the new port, owned by this object; may be null
     */
    void SetPort(std::unique_ptr<viaduct::io::AnyPort> port);

    /** @return the port, or null */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_port.get();
    }

    /**
     * Allocates rings; must be called once before anything else. Waiting frames are lost.
     * @param sizes the sizes
     * @return the number of lost frames
     */
    uint32_t SetSizes(const Sizes& sizes);

    /** Discards the frames that wait to be sent. @return the number of these frames */
    uint32_t Discard();

    /** @return Sizes::frame */
    uint32_t GetFrameSize() const
    {
        return m_sizes.frame;
    }

    /**
     * Starts reading.
     * @param nodeId context of the received frames
     * @param ignoreStamps see PortDriver::Client::ignoreStamps
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
     * @return the number of bytes of frames that are queued here or in the port's kernel or driver,
     * as known when BurstPortUser::HandleTransmitted() was last called; with TrackFlight() only
     */
    uint64_t GetBytesInFlight() const
    {
        return m_inFlight;
    }

    /** Flushes if there is no space. @return whether Reserve() has space for a frame */
    bool HasRoom();

    /** Reserves space for one frame to send. Flushes if there is none.
     * @return Sizes::frame bytes to be filled in before Commit(); none if the port accepts no more
     */
    std::span<std::byte> Reserve();

    /**
     * Queues the frame written to the space that Reserve() returned.
     * @param length the frame's bytes
     */
    void Commit(uint32_t length);

    /**
     * Queues a frame that is not complete before BurstPortUser::Finish().
     * @param length bytes of the whole frame
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
     * @param frame the bytes
     * @return false if the port accepts no more
     */
    bool SendLong(viaduct::io::FrameToSend frame);

    /** @return the lateness of frames */
    const PortTiming& GetTiming() const
    {
        return m_timing;
    }

    /** @return frames that have arrived but not reached the user, as far as the port knows */
    uint64_t CountToReceive() const;

    /** @return the number of frames that wait here to be sent */
    uint32_t CountToSend() const
    {
        return m_txCount;
    }

    /** @return frames dropped by the reading thread because the simulator was too slow */
    uint64_t GetReaderDrops() const;

  private:
    bool FlushTurn() override;
    /** Sends frames until the port accepts no more. */
    void Transmit();
    /** Lets the user complete the unfinished ones among some frames to send. @param first slot */
    void FinishFrames(uint32_t first, uint32_t count);
    /** Notifies the user that these frames were offered. @param taken the number of frames sent */
    void TellOffered(uint32_t first, uint32_t count, uint32_t taken);
    /** Notifies the user of sent frames and of space. @return whether there was a notification */
    bool TellUser();
    /** Waits until frames leave the port, if it has any. @return false to be called again */
    bool Await();
    /** Requests a call of Transmit() at the end of the turn. */
    void RequestTransmit();
    /** @return the slot for the next frame */
    size_t FreeSlot() const;

    BurstPortUser& m_user;                        //!< receives the frames
    std::unique_ptr<viaduct::io::AnyPort> m_port; //!< the port
    std::shared_ptr<PortDriver> m_driver;         //!< drives the port from Start() to Stop()
    bool m_started = false;                       //!< true between Start() and Stop()
    uint32_t m_nodeId = 0;                        //!< context of received frames
    bool m_ignoreStamps = false;                  //!< argument of Start()
    Sizes m_sizes;                                //!< sizes of the rings
    uint64_t m_formerReaderDrops = 0;             //!< drops of stopped drivers
    PortTiming m_timing;                          //!< lateness of frames

    std::vector<std::byte> m_txBuffer;                //!< slots of Sizes::frame bytes
    std::vector<viaduct::io::FrameToSend> m_txFrames; //!< the frame in each slot
    std::vector<viaduct::Instant> m_txDue;            //!< virtual times of sending
    std::vector<bool> m_txUnfinished;                 //!< whether the user must complete it
    uint32_t m_unfinished = 0;                        //!< number of unfinished frames
    uint32_t m_txHead = 0;                            //!< oldest frame
    uint32_t m_txCount = 0;                           //!< number of waiting frames
    bool m_refused = false;                           //!< whether the port accepted only a part
    bool m_full = false;                              //!< whether HasRoom() was false
    bool m_flushRequested = false;                    //!< whether a call of Transmit() is pending
    bool m_tracksFlight = false;                      //!< whether TrackFlight() was called
    uint64_t m_inFlight = 0;                          //!< bytes not reported as transmitted
    uint64_t m_waiting = 0;                           //!< bytes of the frames in m_txFrames
};

} // namespace ns3

#endif /* VIADUCT_BURST_PORT_H */
