/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/base/bytes-header.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(BytesHeader);

TypeId
BytesHeader::GetTypeId()
{
    static TypeId tid = TypeId("ns3::BytesHeader")
                            .SetParent<Header>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<BytesHeader>();
    return tid;
}

TypeId
BytesHeader::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
BytesHeader::GetSerializedSize() const
{
    return m_bytes.size();
}

void
BytesHeader::Serialize(Buffer::Iterator start) const
{
    start.Write(reinterpret_cast<const uint8_t*>(m_bytes.data()), m_bytes.size());
}

uint32_t
BytesHeader::Deserialize(Buffer::Iterator /* start */)
{
    return 0;
}

void
BytesHeader::Print(std::ostream& os) const
{
    os << m_bytes.size() << " bytes";
}

} // namespace ns3
