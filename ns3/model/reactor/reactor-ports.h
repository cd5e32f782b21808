/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_REACTOR_PORTS_H
#define VIADUCT_REACTOR_PORTS_H

#include "reactor-clock.h"

#include "ns3/callback.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The ports of a reactor, and the kernel's word on which of them have something to read.
 *
 * One thread's, except Wake().
 */
class ReactorPorts
{
  public:
    /** A registered port. */
    struct Port
    {
        uint32_t id;             //!< its name
        int fd;                  //!< what to wait for, or -1
        Callback<bool> callback; //!< what reads it
        bool ready = true;       //!< asked in the next turn
        bool removed = false;    //!< to be erased when no loop is over the list
        bool muted = false;      //!< taken out of epoll for a while
        uint32_t idleWakes = 0;  //!< wake-ups in a row in which it had nothing to do
    };

    /**
     * @param fd descriptor to wait for, not owned; -1 for none
     * @param callback what reads the port; returns whether it did or still has work
     * @return the port's name
     */
    uint32_t Add(int fd, Callback<bool> callback);
    /**
     * @param id what Add() returned; unknown ones are ignored
     */
    void Remove(uint32_t id);

    /** @return whether there are none */
    bool IsEmpty() const;
    /** @return whether one had work when it was last asked, or is ready by the kernel's word */
    bool AnyReady() const;

    /**
     * Go over the ports; they may be added and removed meanwhile.
     * @param visit is given each; returns false to end
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

    /**
     * Ask a port for one burst. A descriptor that is always ready with nothing to read is muted,
     * for it must not make the loop spin.
     * @param port the port
     * @param clock what the loop runs on
     * @return true if it did work
     */
    bool Ask(Port& port, ReactorClock& clock);

    /**
     * Ask the kernel which ports are ready.
     * @param clock what the loop runs on
     * @param timeout how long to wait for one; Duration::Max() is without end
     * @return how many are, a call of Wake() included
     */
    size_t Look(ReactorClock& clock, viaduct::Duration timeout);
    /** @return when the kernel was last asked */
    viaduct::Instant GetLastLook() const;

    /** @return when Unmute() has something to do; Never if no port is muted */
    viaduct::Instant GetUnmuteTime() const;
    /** Wait for muted ports again. */
    void Unmute();

    /** End the Look() that waits, or the next; from another thread or a signal handler. */
    void Wake() const;

  private:
    /** Wait for a port's descriptor from now on. */
    void Watch(Port& port);
    /** Erase removed ports. */
    void Compact();

    viaduct::sys::HybridWaiter m_waiter;                    //!< waits for descriptors
    std::vector<std::unique_ptr<Port>> m_ports;             //!< the ports
    uint32_t m_nextId = 1;                                  //!< next port's name
    bool m_visiting = false;                                //!< a loop is over m_ports
    bool m_anyRemoved = false;                              //!< one of them is to be erased
    viaduct::Instant m_lastLook;                            //!< of Look()
    viaduct::Instant m_unmuteAt{viaduct::Instant::Never()}; //!< of muted ports
};

} // namespace ns3

#endif /* VIADUCT_REACTOR_PORTS_H */
