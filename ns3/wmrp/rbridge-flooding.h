/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_FLOODING_H
#define VIADUCT_RBRIDGE_FLOODING_H

#include "ns3/wmrp/rbridge-port.h"

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
 * @brief Distributes link states to all RBridges, as IS-IS does on broadcast links (ISO 10589
 * section 7.3.15).
 *
 * An LSP is sent once to a link. Lost LSPs are found by comparing complete sequence numbers, which
 * a link's designated RBridge sends periodically, and every RBridge when a neighbour comes up.
 * Where neighbours do not hear each other, the RBridge between them passes LSPs on to the same
 * link.
 */
class RBridgeFlooding
{
  public:
    /**
     * @param system the RBridge that has this object
     * @param database the link states to flood; must outlive this object
     * @param jitter random part of the instants at which LSPs are sent
     */
    RBridgeFlooding(const viaduct::rbridge::SystemId& system,
                    viaduct::rbridge::Database& database,
                    Ptr<UniformRandomVariable> jitter);
    ~RBridgeFlooding();

    /** @param port a further port; must outlive this object */
    void AddPort(RBridgePort& port);
    /** Sends LSPs to all links.
     * @param ids the LSPs to send
     */
    void Flood(const std::vector<viaduct::rbridge::LspId>& ids);
    /**
     * @param port the port by which it arrived
     * @param from the MAC address of its sender's port
     * @param lsp an LSP
     * @return whether it has changed the database
     */
    bool Receive(RBridgePort& port,
                 const viaduct::wire::MacAddress& from,
                 const viaduct::rbridge::Lsp& lsp);
    /**
     * @param port the port by which they arrived
     * @param numbers sequence numbers, complete or partial
     */
    void Receive(RBridgePort& port, const viaduct::rbridge::SequenceNumbers& numbers);
    /** Sends complete sequence numbers.
     * @param port the port of the link
     */
    void SendSummary(const RBridgePort& port) const;

  private:
    /** Transmissions pending on a link (ISO 10589: SRMflag and SSNflag). */
    struct Queue
    {
        RBridgePort* port = nullptr;                //!< the link's port
        std::set<viaduct::rbridge::LspId> lsps;     //!< LSPs to send
        std::set<viaduct::rbridge::LspId> requests; //!< LSPs to request
        EventId flush;                              //!< the next transmission
    };

    Queue& QueueOf(const RBridgePort& port);
    void Arm(Queue& queue);
    void Flush(viaduct::rbridge::PortIndex index);

    viaduct::rbridge::SystemId m_system;                   //!< the RBridge that has this object
    viaduct::rbridge::Database& m_database;                //!< the link states to flood
    Ptr<UniformRandomVariable> m_jitter;                   //!< random part of instants
    std::map<viaduct::rbridge::PortIndex, Queue> m_queues; //!< key: a port's index
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_FLOODING_H
