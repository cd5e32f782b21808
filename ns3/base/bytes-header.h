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
 * @brief A header that consists of given bytes. A packet to which the bytes are added as a header
 * keeps its tags and its area of zeros; other methods to add bytes in front lose one of these.
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
