/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_STATE_CSV_H
#define VIADUCT_KERNEL_STATE_CSV_H

#include "ns3/kernel-state.h"

#include <map>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Writes the state of a kernel node over time to files of comma-separated values: a row of
 * names with units, then a row for each socket, queueing discipline, or counter that has changed.
 *
 * What is no number yet (a threshold before the first loss, a pacing rate without pacing) is left
 * empty. Rows are kept in memory in blocks, so that hundreds of nodes do not need as many open
 * files.
 */
class KernelStateCsv
{
  public:
    /**
     * Creates PREFIX-tcp.csv, PREFIX-qdisc.csv and PREFIX-nstat.csv with their first rows, and
     * fills them from then on; throws viaduct::Error where one cannot be written.
     * @param prefix of the files
     * @param state of the node; it outlives this
     */
    KernelStateCsv(const std::string& prefix, Ptr<KernelState> state);
    /** Writes what is still in memory; a file that cannot take it is told on standard error. */
    ~KernelStateCsv();
    KernelStateCsv(const KernelStateCsv&) = delete;
    KernelStateCsv& operator=(const KernelStateCsv&) = delete;

    /** Writes what is still in memory. Throws viaduct::Error. */
    void Flush();

  private:
    /** A file and the rows that wait for it. */
    class File
    {
      public:
        /** @param name of the file @param header its first row */
        File(const std::string& name, const std::string& header);
        /** @param row without its end */
        void Add(const std::string& row);
        /** Writes what waits. Throws viaduct::Error. */
        void Flush();

      private:
        std::string m_name; //!< of the file
        std::string m_rows; //!< that wait
    };

    void AddTcp(const KernelTcpInfo& info);
    void AddQdisc(const KernelQdiscStatistics& statistics);
    void AddCounters(const KernelState::Counters& counters);

    Ptr<KernelState> m_state;      //!< where it comes from
    File m_tcp;                    //!< PREFIX-tcp.csv
    File m_qdisc;                  //!< PREFIX-qdisc.csv
    File m_nstat;                  //!< PREFIX-nstat.csv
    KernelState::Counters m_known; //!< as written
};

} // namespace ns3

#endif // VIADUCT_KERNEL_STATE_CSV_H
