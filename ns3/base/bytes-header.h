/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_BYTES_HEADER_H
#define VIADUCT_BYTES_HEADER_H

#include "ns3/header.h"

#include "base/wire/bytes.h"

#include <cstdint>
#include <ostream>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A header of given bytes, to add the bytes in front of a packet: added by another method,
 * they would make the packet lose its tags, or its area of zeros.
 */
class BytesHeader : public Header
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    BytesHeader() = default;

    /** Creates a header. @param bytes the bytes of the header; their memory must outlive this
     * object */
    explicit BytesHeader(viaduct::wire::ConstBytes bytes) : m_bytes(bytes)
    {
    }

    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(Buffer::Iterator start) const override;
    uint32_t Deserialize(Buffer::Iterator start) override;
    void Print(std::ostream& os) const override;

  private:
    viaduct::wire::ConstBytes m_bytes; //!< bytes of the header
};

} // namespace ns3

#endif /* VIADUCT_BYTES_HEADER_H */
