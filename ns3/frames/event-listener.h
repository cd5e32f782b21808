/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_EVENT_LISTENER_H
#define VIADUCT_EVENT_LISTENER_H

#include "ns3/node.h"

#include "base/fd.h"
#include "plane/forward/event_ring.h"
#include "plane/forward/shared_memory.h"

#include <functional>
#include <optional>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Reads the events that the forwarding program of a node, which runs in a separate process,
 * writes to a ring in shared memory, and passes each event to a function. Needs
 * ReactorSimulatorImpl.
 */
class EventListener
{
  public:
    /** Begins to read events.
     * @param node the node, in whose context `take` is called
     * @param doorbell a descriptor that becomes readable when there are events
     * @param events the descriptor of the shared memory that has the ring
     * @param take called with each event
     * @throws viaduct::UsageError if the simulator is not ReactorSimulatorImpl
     */
    EventListener(Ptr<Node> node,
                  viaduct::UniqueFd doorbell,
                  int events,
                  std::function<void(const viaduct::forward::Event&)> take);
    ~EventListener();
    EventListener(const EventListener&) = delete;
    EventListener& operator=(const EventListener&) = delete;

  private:
    bool ReadEvents();
    void StopListening();

    uint32_t m_node;                                            //!< id of the node
    viaduct::UniqueFd m_doorbell;                               //!< readable when there are events
    viaduct::forward::Mapping m_events;                         //!< memory of the ring
    viaduct::forward::EventReader m_reader;                     //!< reads m_events
    std::function<void(const viaduct::forward::Event&)> m_take; //!< receives each event
    std::optional<uint32_t> m_pollable;                         //!< id of m_doorbell in the reactor
};

} // namespace ns3

#endif // VIADUCT_EVENT_LISTENER_H
