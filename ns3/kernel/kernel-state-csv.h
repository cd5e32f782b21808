/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_STATE_CSV_H
#define VIADUCT_KERNEL_STATE_CSV_H

#include "ns3/kernel/kernel-state.h"

#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Writes the state of a kernel node over time to files of comma-separated values: first a
 * row of column names with units, then, for each sample, a row for each socket, each queueing
 * discipline, or each counter that has changed.
 *
 * Values that are not set yet (a threshold before the first loss, a pacing rate without pacing) are
 * empty. Rows are kept in memory in blocks, so that hundreds of nodes do not need hundreds of
 * open files.
 */
class KernelStateCsv
{
  public:
    /**
     * Creates PREFIX-tcp.csv, PREFIX-qdisc.csv and PREFIX-nstat.csv with their first rows. After
     * this call, each sample of @p state adds rows. Throws viaduct::Error if a file cannot be
     * written.
     * @param prefix the prefix of the files' names
     * @param state the node's state, to which this object holds a reference
     */
    KernelStateCsv(const std::string& prefix, Ptr<KernelState> state);
    /**
     * Writes the rows that are still in memory; prints a message on standard error if writing
     * fails.
     */
    ~KernelStateCsv();
    KernelStateCsv(const KernelStateCsv&) = delete;
    KernelStateCsv& operator=(const KernelStateCsv&) = delete;

    /** Writes the rows that are still in memory. Throws viaduct::Error if a file cannot be
     * written. */
    void Flush();

  private:
    /** A file and the rows that are not written to the file yet. */
    class File
    {
      public:
        /** Creates the file. @param name the file's name @param header the file's first row */
        File(const std::string& name, const std::string& header);
        /** Adds a row. @param row the row without its newline */
        void Add(const std::string& row);
        /** Writes the rows that are not written yet. Throws viaduct::Error if writing fails. */
        void Flush();

      private:
        std::string m_name;   //!< the file's name
        std::string m_rows;   //!< rows that are not written yet
        bool m_failed{false}; //!< whether a block of rows could not be written
    };

    void AddTcp(const KernelTcpInfo& info);
    void AddQdisc(const KernelQdiscStatistics& statistics);
    void AddCounters(const KernelState::Counters& counters);

    Ptr<KernelState> m_state;      //!< the source of the values
    File m_tcp;                    //!< file PREFIX-tcp.csv
    File m_qdisc;                  //!< file PREFIX-qdisc.csv
    File m_nstat;                  //!< file PREFIX-nstat.csv
    KernelState::Counters m_known; //!< last written value of each counter
};

} // namespace ns3

#endif // VIADUCT_KERNEL_STATE_CSV_H
