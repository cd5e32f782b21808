/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_BURST_PORT_H
#define VIADUCT_BURST_PORT_H

#include "port-driver.h"

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

    /** Handle one frame, in the node's context.
     * @param frame the frame as received from the port; valid during the call
     */
    virtual void HandleFrame(const viaduct::io::ReceivedFrame& frame) = 0;
    /** The frames that HandleFrame() got are valid no longer; more may come. */
    virtual void HandleReturn()
    {
    }

    /**
     * Complete a frame that was queued by CommitUnfinished(), to be sent during this call's turn.
     * @param slot what CommitUnfinished() returned
     * @param frame where the user has written its beginning; as long as the whole
     * @return where the whole frame is: there, or elsewhere until HandleOffered()
     */
    virtual viaduct::io::FrameToSend Finish(uint32_t /* slot */, std::span<std::byte> frame)
    {
        return frame;
    }

    /**
     * A frame that Finish() has completed was offered to the port.
     * @param slot what CommitUnfinished() returned
     * @param taken false if it will be completed and offered again
     */
    virtual void HandleOffered(uint32_t /* slot */, bool /* taken */)
    {
    }

    /**
     * A frame was processed, or the port has taken one; under the reactor only.
     * @param sent the latter
     * @param lateness see PortTiming
     */
    virtual void HandleLateness(bool /* sent */, viaduct::Duration /* lateness */)
    {
    }

    /** Reserve() has room again after HasRoom() was false. */
    virtual void HandleRoom()
    {
    }

    /**
     * Frames have left the port, or were dropped by it; with TrackFlight() only. In the node's
     * context, not within an event.
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
     * @param user gets the frames; must outlive this object
     */
    explicit BurstPort(BurstPortUser& user);
    ~BurstPort() override;
    BurstPort(const BurstPort&) = delete;
    BurstPort& operator=(const BurstPort&) = delete;

    /** Sizes; those of the rings are in frames. */
    struct Sizes
    {
        uint32_t burst = 64;     //!< received at once
        uint32_t queue = 256;    //!< waiting to be sent
        uint32_t pending = 1000; //!< read by the thread, not yet processed by the simulator
        uint32_t frame = 1536;   //!< longest frame to send, bytes
    };

    /** Replace the port; reading continues if it had been started. Frames waiting to be sent stay.
     * @param port the new one, owned from now on; may be null
     */
    void SetPort(std::unique_ptr<viaduct::io::AnyPort> port);

    /** @return the port, or null */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_port.get();
    }

    /**
     * Allocate rings; to be called once before anything else. Frames waiting to be sent are lost.
     * @param sizes the sizes
     * @return how many were lost
     */
    uint32_t SetSizes(const Sizes& sizes);

    /** Forget the frames that wait to be sent. @return how many there were */
    uint32_t Discard();

    /** @return Sizes::frame */
    uint32_t GetFrameSize() const
    {
        return m_sizes.frame;
    }

    /**
     * Start reading.
     * @param nodeId context of the received frames
     * @param ignoreStamps see PortDriver::Client::ignoreStamps
     */
    void Start(uint32_t nodeId, bool ignoreStamps = false);

    /** Stop reading, and send waiting frames as far as the port accepts them. */
    void Stop();

    /** Call BurstPortUser::HandleTransmitted() from now on. Costs a system call per burst. */
    void TrackFlight()
    {
        m_tracksFlight = true;
    }

    /**
     * @return bytes of frames that are queued here or in the port's kernel or driver, as far as was
     * known when BurstPortUser::HandleTransmitted() was last called; with TrackFlight() only
     */
    uint64_t GetBytesInFlight() const
    {
        return m_inFlight;
    }

    /** Flushes if there is no room. @return whether Reserve() has room for a frame */
    bool HasRoom();

    /** Reserve room for one frame to send. Flushes if there is none.
     * @return Sizes::frame bytes to be filled in before Commit(); none if the port accepts no more
     */
    std::span<std::byte> Reserve();

    /**
     * Queue the frame written to the room that Reserve() returned.
     * @param length its bytes
     */
    void Commit(uint32_t length);

    /**
     * The same for a frame that is not complete before BurstPortUser::Finish().
     * @param length bytes of the whole frame
     * @return names it
     */
    uint32_t CommitUnfinished(uint32_t length);

    /** Send what is queued now, not at the end of the turn, as far as the port accepts it. */
    void SendNow()
    {
        Transmit();
    }

    /**
     * Send a frame longer than Sizes::frame, in order with those queued.
     * @param frame the bytes
     * @return false if the port accepts no more
     */
    bool SendLong(viaduct::io::FrameToSend frame);

    /** @return how late frames were */
    const PortTiming& GetTiming() const
    {
        return m_timing;
    }

    /** @return frames that have come and that the user has not got yet, as far as the port knows */
    uint64_t CountToReceive() const;

    /** @return frames that wait here to be sent */
    uint32_t CountToSend() const
    {
        return m_txCount;
    }

    /** @return frames the reading thread dropped because the simulator was too slow */
    uint64_t GetReaderDrops() const;

  private:
    bool FlushTurn() override;
    /** Send frames until the port accepts no more. */
    void Transmit();
    /** Let the user complete those of some frames to send that are not. @param first slot */
    void FinishFrames(uint32_t first, uint32_t count);
    /** Tell the user of them. @param taken how many of the frames left */
    void TellOffered(uint32_t first, uint32_t count, uint32_t taken);
    /** Tell the user what has left, and of room. @return whether there was something to tell */
    bool TellUser();
    /** Await that frames leave the port, if any are there. @return false to be called again */
    bool Await();
    /** Request a call of Transmit() at the end of the turn. */
    void RequestTransmit();
    /** @return the slot for the next frame */
    size_t FreeSlot() const;

    BurstPortUser& m_user;                        //!< gets the frames
    std::unique_ptr<viaduct::io::AnyPort> m_port; //!< the port
    std::shared_ptr<PortDriver> m_driver;         //!< reads and writes it from Start() to Stop()
    bool m_started = false;                       //!< between Start() and Stop()
    uint32_t m_nodeId = 0;                        //!< context of received frames
    bool m_ignoreStamps = false;                  //!< of Start()
    Sizes m_sizes;                                //!< of the rings
    uint64_t m_formerReaderDrops = 0;             //!< of drivers that have been stopped
    PortTiming m_timing;                          //!< how late frames are

    std::vector<std::byte> m_txBuffer;                //!< slots of Sizes::frame bytes
    std::vector<viaduct::io::FrameToSend> m_txFrames; //!< what each slot holds
    std::vector<viaduct::Instant> m_txDue;            //!< when they are sent in the simulation
    std::vector<bool> m_txUnfinished;                 //!< whether the user has to complete it
    uint32_t m_unfinished = 0;                        //!< how many of those wait
    uint32_t m_txHead = 0;                            //!< oldest frame
    uint32_t m_txCount = 0;                           //!< frames waiting
    bool m_refused = false;                           //!< the port did not accept all
    bool m_full = false;                              //!< HasRoom() was false
    bool m_flushRequested = false;                    //!< a call of Transmit() is pending
    bool m_tracksFlight = false;                      //!< TrackFlight() was called
    uint64_t m_inFlight = 0;                          //!< bytes not reported as transmitted
    uint64_t m_waiting = 0;                           //!< bytes of the frames in m_txFrames
};

} // namespace ns3

#endif /* VIADUCT_BURST_PORT_H */
