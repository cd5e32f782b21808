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
 * An LSP is sent once to each link. Lost LSPs are detected by comparison of complete sequence
 * numbers, which a link's designated RBridge sends periodically, and which every RBridge sends when
 * a neighbour appears. If two neighbours on a link do not hear each other, an RBridge that hears
 * both sends the LSPs that it receives from the link to the link again.
 */
class RBridgeFlooding
{
  public:
    /**
     * @param system the identifier of the RBridge that has this object
     * @param database the link states to flood; must outlive this object
     * @param jitter the source of the random delays after which LSPs are sent
     */
    RBridgeFlooding(const viaduct::rbridge::SystemId& system,
                    viaduct::rbridge::Database& database,
                    Ptr<UniformRandomVariable> jitter);
    ~RBridgeFlooding();

    /** Adds a port to whose link LSPs are sent.
     * @param port the port; must outlive this object */
    void AddPort(RBridgePort& port);
    /** Sends LSPs to all links.
     * @param ids the LSPs to send
     */
    void Flood(const std::vector<viaduct::rbridge::LspId>& ids);
    /**
     * Handles an LSP that has arrived.
     * @param port the port at which the LSP arrived
     * @param from the MAC address of the sender's port
     * @param lsp an LSP
     * @return whether the LSP has changed the database
     */
    bool Receive(RBridgePort& port,
                 const viaduct::wire::MacAddress& from,
                 const viaduct::rbridge::Lsp& lsp);
    /**
     * Handles a PDU of LSPs' sequence numbers that has arrived.
     * @param port the port at which the PDU arrived
     * @param numbers the sequence numbers, complete or partial
     */
    void Receive(RBridgePort& port, const viaduct::rbridge::SequenceNumbers& numbers);
    /** Sends the complete sequence numbers of the database to a link.
     * @param port the port of the link
     */
    void SendSummary(const RBridgePort& port) const;

  private:
    /** The LSPs and requests that wait to be sent to a link (ISO 10589: SRMflag and SSNflag). */
    struct Queue
    {
        RBridgePort* port = nullptr;                //!< the link's port
        std::set<viaduct::rbridge::LspId> lsps;     //!< LSPs to send
        std::set<viaduct::rbridge::LspId> requests; //!< LSPs to request
        EventId flush;                              //!< event that sends the LSPs and requests
    };

    Queue& QueueOf(const RBridgePort& port);
    void Arm(Queue& queue);
    void Flush(viaduct::rbridge::PortIndex index);

    viaduct::rbridge::SystemId m_system;    //!< identifier of the RBridge that has this object
    viaduct::rbridge::Database& m_database; //!< the link states to flood
    Ptr<UniformRandomVariable> m_jitter;    //!< source of random delays
    /** The pending LSPs and requests of each link, by the port's index. */
    std::map<viaduct::rbridge::PortIndex, Queue> m_queues;
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_FLOODING_H
