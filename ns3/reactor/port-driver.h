/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PORT_DRIVER_H
#define VIADUCT_PORT_DRIVER_H

#include "ns3/reactor/reactor-simulator-impl.h"

#include "base/histogram.h"
#include "base/time.h"
#include "port/port.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace ns3
{

class BurstPortUser;

/**
 * @ingroup viaduct
 * @brief The lateness of frames in nanoseconds, which is measured under ns3::ReactorSimulatorImpl
 * only.
 */
struct PortTiming
{
    /** The maximum time from a frame's arrival in the kernel (the kernel's time stamp; without a
     * stamp, the earliest possible arrival) until the frame has been processed. */
    viaduct::Histogram received;
    /** The time from the simulated instant of sending until the port has taken the frame. */
    viaduct::Histogram sent;
};

/**
 * @ingroup viaduct
 * @brief Reads and writes the port of a BurstPort: in the reactor's loop, or with a thread and
 * events.
 *
 * A driver reads the port from its construction to Stop(). Stop() may be called from within
 * BurstPortUser's functions.
 */
class PortDriver
{
  public:
    /** The parameters of a driver; the objects to which they refer must exist at least until
     * Stop(). */
    struct Client
    {
        viaduct::io::AnyPort& port; //!< the port that is read and written
        BurstPortUser& user;        //!< receives the frames
        ReactorFlush& flush;        //!< sends the waiting frames
        uint32_t nodeId;            //!< node in whose context frames are received
        uint32_t burst;             //!< maximum number of frames received at once
        uint32_t pending;           //!< maximum number of read frames that wait for the simulator
        PortTiming& timing;         //!< lateness of frames
        bool ignoreStamps = false;  //!< whether to ignore stamps of received frames
    };

    virtual ~PortDriver() = default;

    /** Stops reading and calling the client. */
    virtual void Stop() = 0;

    /** Requests calls of FlushTurn() of Client::flush, which are repeated until a call returns
     * true. */
    virtual void RequestFlush() = 0;

    /**
     * Requests a call of FlushTurn() of Client::flush when frames have left the port.
     * @return false if the port cannot report that frames have left; FlushTurn() must then return
     * false, so that it is called again after a delay
     */
    virtual bool AwaitTransmitted() = 0;

    /**
     * Runs a function at the current time in the node's context. Under the reactor, must not be
     * called within an event.
     * @param function the function to run
     */
    virtual void RunInNode(const std::function<void()>& function) = 0;

    /** Sends frames through the port.
     * @param frames the frames to send
     * @param due for each frame, the result of GetNow() when the simulation sent the frame
     * @return the number of frames that the port accepted
     */
    virtual size_t Transmit(std::span<const viaduct::io::FrameToSend> frames,
                            std::span<const viaduct::Instant> due) = 0;

    /** @return the simulation's current time as an instant of the reactor's clock; Instant()
     * without a reactor */
    virtual viaduct::Instant GetNow() const = 0;

    /** @return the bytes in flight below the port (viaduct::io::AnyPort::BytesInFlight()) */
    virtual size_t GetBytesInFlight() = 0;

    /** @return the number of frames that were read, but have not reached the user */
    virtual uint64_t GetWaiting() const = 0;

    /** @return the number of frames that were read and dropped because the simulator was too
     * slow */
    virtual uint64_t GetDrops() const = 0;
};

/**
 * @ingroup viaduct
 * Creates a driver that reads a port in the reactor's loop, and sends frames at the end of the
 * turn.
 * @param reactor the simulator
 * @param client the client
 * @return the driver
 */
std::shared_ptr<PortDriver> MakeReactorPortDriver(Ptr<ReactorSimulatorImpl> reactor,
                                                  const PortDriver::Client& client);

/**
 * @ingroup viaduct
 * Creates a driver for RealtimeSimulatorImpl: a thread reads the port, and an event sends the
 * frames.
 * @param client the client
 * @return the driver
 */
std::shared_ptr<PortDriver> MakeThreadPortDriver(const PortDriver::Client& client);

} // namespace ns3

#endif /* VIADUCT_PORT_DRIVER_H */
