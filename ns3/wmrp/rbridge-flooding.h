/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_FLOODING_H
#define VIADUCT_RBRIDGE_FLOODING_H

#include "rbridge-port.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include "plane/rbridge/database.h"

#include <map>
#include <set>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Brings link states to all RBridges, as IS-IS does on broadcast links (ISO 10589 section
 * 7.3.15).
 *
 * An LSP is sent once to a link. What is lost is found by comparing complete sequence numbers,
 * which a link's designated RBridge sends now and then, and every RBridge when a neighbour comes
 * up.
 * Where neighbours do not hear each other, the RBridge between them passes on to the same link.
 */
class RBridgeFlooding
{
  public:
    /**
     * @param system whose it is
     * @param database what is flooded; must outlive this object
     * @param jitter of when LSPs are sent
     */
    RBridgeFlooding(const viaduct::rbridge::SystemId& system,
                    viaduct::rbridge::Database& database,
                    Ptr<UniformRandomVariable> jitter);
    ~RBridgeFlooding();

    /** @param port a further port; must outlive this object */
    void AddPort(RBridgePort& port);
    /** Sends LSPs to all links.
     * @param ids which
     */
    void Flood(const std::vector<viaduct::rbridge::LspId>& ids);
    /**
     * @param port where it came from
     * @param from the MAC address of its sender's port
     * @param lsp an LSP
     * @return whether it has changed the database
     */
    bool Receive(RBridgePort& port,
                 const viaduct::wire::MacAddress& from,
                 const viaduct::rbridge::Lsp& lsp);
    /**
     * @param port where they came from
     * @param numbers sequence numbers, complete or partial
     */
    void Receive(RBridgePort& port, const viaduct::rbridge::SequenceNumbers& numbers);
    /** Sends complete sequence numbers.
     * @param port to whose link
     */
    void SendSummary(const RBridgePort& port) const;

  private:
    /** What is to be sent to a link (ISO 10589: SRMflag and SSNflag). */
    struct Queue
    {
        RBridgePort* port = nullptr;                //!< of the link
        std::set<viaduct::rbridge::LspId> lsps;     //!< to send
        std::set<viaduct::rbridge::LspId> requests; //!< to ask for
        EventId flush;                              //!< when
    };

    Queue& QueueOf(const RBridgePort& port);
    void Arm(Queue& queue);
    void Flush(viaduct::rbridge::PortIndex index);

    viaduct::rbridge::SystemId m_system;                   //!< whose this is
    viaduct::rbridge::Database& m_database;                //!< what is flooded
    Ptr<UniformRandomVariable> m_jitter;                   //!< of when
    std::map<viaduct::rbridge::PortIndex, Queue> m_queues; //!< of the ports
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_FLOODING_H
