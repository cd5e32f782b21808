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
 * @brief Passes on the events that the forwarding program of a node, in a separate process, reports
 * through a ring in shared memory. Needs ReactorSimulatorImpl.
 */
class EventListener
{
  public:
    /**
     * @param node the node, in whose context `take` is called
     * @param doorbell rings when there are events
     * @param events descriptor of the memory
     * @param take called with each event
     * @throws viaduct::UsageError under another simulator
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

    uint32_t m_node;                                            //!< the context of events
    viaduct::UniqueFd m_doorbell;                               //!< readable when there are events
    viaduct::forward::Mapping m_events;                         //!< memory
    viaduct::forward::EventReader m_reader;                     //!< reads m_events
    std::function<void(const viaduct::forward::Event&)> m_take; //!< called with each event
    std::optional<uint32_t> m_pollable;                         //!< id in the reactor
};

} // namespace ns3

#endif // VIADUCT_EVENT_LISTENER_H
