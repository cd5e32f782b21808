/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_BURST_PORT_H
#define VIADUCT_BURST_PORT_H

#include "reactor-simulator-impl.h"

#include "ns3/event-id.h"
#include "ns3/fd-reader.h"
#include "ns3/ptr.h"

#include "io/port.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * ns3::BurstPort declaration.
 */

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief What a frame received by a BurstPort is given to.
 */
class BurstPortUser
{
  public:
    virtual ~BurstPortUser() = default;

    /**
     * One frame, in the node's context.
     * @param frame as the port gave it; valid during the call
     */
    virtual void HandleFrame(const viaduct::io::ReceivedFrame& frame) = 0;
    /** The port took frames after it had refused some. */
    virtual void HandleRoom() = 0;
};

/**
 * @ingroup viaduct
 * @brief Bursts between a viaduct::io::AnyPort and a user in ns-3.
 *
 * Under ns3::ReactorSimulatorImpl the port is read in the loop, and frames to send leave as one
 * burst at the end of the turn. Under ns3::RealtimeSimulatorImpl a thread reads the port; frames
 * cross over by one event a burst.
 */
class BurstPort : private ReactorFlush
{
  public:
    /**
     * @param user gets the frames; outlives this object
     */
    explicit BurstPort(BurstPortUser& user);
    ~BurstPort() override;
    BurstPort(const BurstPort&) = delete;
    BurstPort& operator=(const BurstPort&) = delete;

    /** Sizes; those of the rings are counted in frames. */
    struct Sizes
    {
        uint32_t burst = 64;     //!< received at once
        uint32_t queue = 256;    //!< waiting to be sent
        uint32_t pending = 1000; //!< read by the thread, not yet taken by the simulator
        uint32_t frame = 1536;   //!< longest frame to send, bytes
    };

    /**
     * Replace the port; reading goes on if it had been started. Frames waiting to be sent stay.
     * @param port the new one, owned from now on; may be null
     */
    void SetPort(std::unique_ptr<viaduct::io::AnyPort> port);

    /** @return the port, or null */
    viaduct::io::AnyPort* GetPort() const;

    /**
     * Allocate rings; to be called once before anything else. Frames waiting to be sent are lost.
     * @param sizes the sizes
     * @return how many were lost
     */
    uint32_t SetSizes(const Sizes& sizes);

    /** @return Sizes::frame */
    uint32_t GetFrameSize() const;

    /**
     * Start reading.
     * @param nodeId context of the received frames
     */
    void Start(uint32_t nodeId);

    /** Stop reading, send what is waiting as far as the port takes it. */
    void Stop();

    /**
     * Room for one frame to send. Flushes if there is none.
     * @return Sizes::frame bytes to be filled in before Commit(); null if the port takes no more
     */
    uint8_t* Reserve();

    /**
     * Queue the frame written to the room that Reserve() returned.
     * @param length its bytes
     */
    void Commit(uint32_t length);

    /**
     * Send a frame longer than Sizes::frame, in order with those queued.
     * @param frame the bytes
     * @return false if the port takes no more
     */
    bool SendLong(viaduct::io::FrameToSend frame);

    /** @return frames the reading thread dropped because the simulator was too slow */
    uint64_t GetReaderDrops() const;

  private:
    class Reader;
    struct Copies;

    /**
     * The reactor's call: handle one burst.
     * @return true if there was work, or some is left
     */
    bool ReceiveBurst();
    /** Hand over the burst at hand, until an event is due. */
    void DeliverBurst();
    /**
     * Hand over what the thread read.
     * @param copies the frames
     */
    void DeliverCopies(std::shared_ptr<Copies> copies);
    bool FlushTurn() override;
    /** Give frames to the port until it takes no more. */
    void Transmit();
    /** Have Transmit() called at the end of the turn. */
    void RequestTransmit();
    /** The same where there is no reactor: an event. */
    void TransmitEvent();

    BurstPortUser& m_user;                        //!< gets the frames
    std::unique_ptr<viaduct::io::AnyPort> m_port; //!< the port
    std::mutex m_mutex;                           //!< guards the port while a thread reads it
    Ptr<Reader> m_reader;                         //!< the thread, where there is no reactor
    Ptr<ReactorSimulatorImpl> m_reactor;          //!< the reactor, where there is one
    uint32_t m_pollable = 0;                      //!< the port's name there
    bool m_started = false;                       //!< between Start() and Stop()
    uint32_t m_nodeId = 0;                        //!< context of received frames
    Sizes m_sizes;                                //!< of the rings
    uint64_t m_formerReaderDrops = 0;             //!< of threads that have ended

    std::vector<viaduct::io::ReceivedFrame> m_received; //!< the burst at hand
    size_t m_nReceived = 0;                             //!< frames in it
    size_t m_nextReceived = 0;                          //!< next one to hand over

    std::vector<std::byte> m_txBuffer;                //!< slots of Sizes::frame bytes
    std::vector<viaduct::io::FrameToSend> m_txFrames; //!< what each slot holds
    uint32_t m_txHead = 0;                            //!< oldest frame
    uint32_t m_txCount = 0;                           //!< frames waiting
    bool m_refused = false;                           //!< the port did not take all
    bool m_flushRequested = false;                    //!< Transmit() is going to be called
    EventId m_transmitEvent;                          //!< by this event, without a reactor
};

} // namespace ns3

#endif /* VIADUCT_BURST_PORT_H */
