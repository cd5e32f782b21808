/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_REACTOR_PORTS_H
#define VIADUCT_REACTOR_PORTS_H

#include "ns3/reactor/reactor-clock.h"

#include "ns3/callback.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The ports of a reactor. Queries the kernel for the ports that have something to read.
 *
 * All functions except Wake() must be called by the same thread.
 */
class ReactorPorts
{
  public:
    /** A registered port. */
    struct Port
    {
        uint32_t id;              //!< the port's id
        int fd;                   //!< the descriptor to wait for, or -1
        uint32_t events;          //!< events to wait for (epoll)
        Callback<bool> callback;  //!< reads the port
        bool ready = true;        //!< whether the port is served in the next turn
        bool removed = false;     //!< whether to erase the port when no loop iterates over ports
        bool muted = false;       //!< whether the port is temporarily not in epoll
        viaduct::Instant emptyAt; //!< latest time at which the port is known to have been empty
        uint32_t idleWakes = 0;   //!< consecutive wake-ups without work
    };

    /**
     * Adds a port.
     * @param fd descriptor to wait for, not owned; -1 for none
     * @param callback reads the port; returns whether the port did work or still has work
     * @param events the events of epoll(7) to wait for
     * @return the port's id
     */
    uint32_t Add(int fd, Callback<bool> callback, uint32_t events);
    /**
     * Removes a port.
     * @param id the result of Add(); unknown ids are ignored
     */
    void Remove(uint32_t id);

    /** @return whether there are no ports */
    bool IsEmpty() const
    {
        return m_ports.empty();
    }

    /**
     * @return whether a port had work when it was last served, or is ready according to the kernel
     */
    bool AnyReady() const;

    /** Iterates over the ports; ports may be added and removed meanwhile.
     * @param visit the function called with each port; returns false to end the iteration
     */
    template <typename Visit>
    void ForEach(Visit visit)
    {
        m_visiting = true;
        for (size_t i = 0; i < m_ports.size(); ++i)
        {
            if (!m_ports[i]->removed && !visit(*m_ports[i]))
            {
                break;
            }
        }
        m_visiting = false;
        Compact();
    }

    /** Serves one burst of a port. A descriptor that is always ready but has nothing to read is
     * muted, because it would make the loop spin.
     * @param port the port
     * @param clock the loop's clock
     * @return true if the port did work
     */
    bool Ask(Port& port, ReactorClock& clock);

    /**
     * Queries the kernel for ready ports.
     * @param clock the loop's clock
     * @param timeout the maximum wait for a ready port; Duration::Max() is without limit
     * @return the number of ready ports; a call of Wake() counts as one
     */
    size_t Poll(ReactorClock& clock, viaduct::Duration timeout);
    /** @return the time at which the kernel was last queried */
    viaduct::Instant GetLastLook() const
    {
        return m_lastPoll;
    }

    /** @return the time at which Unmute() must be called; Never if no port is muted */
    viaduct::Instant GetUnmuteTime() const
    {
        return m_unmuteAt;
    }

    /** Unmutes all muted ports: waits for their descriptors again. */
    void Unmute();

    /** Ends the current call of Poll(), or the next call if none is running; may be called from any
     * thread or a signal handler. */
    void Wake() const
    {
        m_waiter.Wake();
    }

  private:
    /** Begins to wait for a port's descriptor. */
    void Watch(Port& port);
    /** Erases removed ports. */
    void Compact();

    viaduct::sys::HybridWaiter m_waiter;                    //!< waits for descriptors
    std::vector<std::unique_ptr<Port>> m_ports;             //!< the ports
    uint32_t m_nextId = 1;                                  //!< next port's id
    bool m_visiting = false;                                //!< whether ForEach() is running
    bool m_anyRemoved = false;                              //!< whether a port must be erased
    viaduct::Instant m_lastPoll;                            //!< time of the last Poll()
    viaduct::Instant m_unmuteAt{viaduct::Instant::Never()}; //!< time of the next call of Unmute()
};

} // namespace ns3

#endif /* VIADUCT_REACTOR_PORTS_H */
