/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_MIXIN_H
#define VIADUCT_KERNEL_SOCKET_MIXIN_H

#include "ns3/socket/kernel-socket-core.h"

#include "ns3/socket.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The functions of kernel sockets beyond ns-3's Socket; obtained by dynamic_cast.
 */
class KernelSocketOptions
{
  public:
    virtual ~KernelSocketOptions() = default;
    /** Calls setsockopt(2) in the kernel, before the application's next operation. If the kernel
     * refuses the option, GetErrno() returns the error.
     * @param level SOL_SOCKET, IPPROTO_TCP...
     * @param name the option
     * @param value the option's value
     * @param size the size of the value in bytes
     * @return 0
     */
    virtual int SetSockOpt(int level, int name, const void* value, uint32_t size) = 0;
    /** Calls getsockopt(2) in the kernel at the current simulated time.
     * @param level SOL_SOCKET, IPPROTO_TCP...
     * @param name the option
     * @return the option's value; empty if the kernel returns none (GetErrno() returns the reason)
     */
    virtual std::vector<std::byte> GetSockOpt(int level, int name) = 0;
};

/**
 * @ingroup viaduct
 * @brief Implements Base, one of ns-3's abstract socket classes, with a socket of a kernel.
 * @tparam Base Socket, TcpSocket, UdpSocket
 * @tparam Self the class that derives from this one
 */
template <class Base, class Self>
class KernelSocketMixin : public Base, public KernelSocketOptions
{
  public:
    /** @param node the node */
    void SetNode(Ptr<Node> node)
    {
        m_core->SetNode(node);
    }

    Socket::SocketErrno GetErrno() const override
    {
        return m_core->GetErrno();
    }

    Socket::SocketType GetSocketType() const override
    {
        return m_core->GetKind().socketType;
    }

    bool SetAllowBroadcast(bool allow) override
    {
        return m_core->SetAllowBroadcast(allow);
    }

    bool GetAllowBroadcast() const override
    {
        return m_core->GetAllowBroadcast();
    }

    Ptr<Node> GetNode() const override
    {
        return m_core->GetNode();
    }

    int Bind(const Address& address) override
    {
        return m_core->Bind(address);
    }

    int Bind() override
    {
        return m_core->BindAny(false);
    }

    int Bind6() override
    {
        return m_core->BindAny(true);
    }

    int Close() override
    {
        return m_core->Close();
    }

    int ShutdownSend() override
    {
        return m_core->ShutdownSend();
    }

    int ShutdownRecv() override
    {
        return m_core->ShutdownRecv();
    }

    int Connect(const Address& address) override
    {
        return m_core->Connect(address);
    }

    int Listen() override
    {
        return m_core->Listen(BACKLOG);
    }

    uint32_t GetTxAvailable() const override
    {
        return m_core->GetTxAvailable();
    }

    int Send(Ptr<Packet> packet, uint32_t flags) override
    {
        return m_core->Send(packet, flags);
    }

    int SendTo(Ptr<Packet> packet, uint32_t flags, const Address& to) override
    {
        return m_core->SendTo(packet, flags, to);
    }

    uint32_t GetRxAvailable() const override
    {
        return m_core->GetRxAvailable();
    }

    Ptr<Packet> Recv(uint32_t maxSize, uint32_t flags) override
    {
        return m_core->RecvFrom(maxSize, flags, nullptr);
    }

    Ptr<Packet> RecvFrom(uint32_t maxSize, uint32_t flags, Address& from) override
    {
        return m_core->RecvFrom(maxSize, flags, &from);
    }

    int GetSockName(Address& address) const override
    {
        return m_core->GetSockName(address);
    }

    int GetPeerName(Address& address) const override
    {
        return m_core->GetPeerName(address);
    }

    void BindToNetDevice(Ptr<NetDevice> device) override
    {
        this->m_boundnetdevice = device;
        m_core->BindToNetDevice(device);
    }

    int SetSockOpt(int level, int name, const void* value, uint32_t size) override
    {
        return m_core->SetSockOpt(
            level, name, std::span(static_cast<const std::byte*>(value), size));
    }

    std::vector<std::byte> GetSockOpt(int level, int name) override
    {
        std::vector<std::byte> value;
        m_core->GetSockOpt(level, name, &value);
        return value;
    }

    // Declares the base class's overloads, which the overloads above would hide.
    using Base::Recv;
    using Base::RecvFrom;
    using Base::Send;
    using Base::SendTo;

  protected:
    /** @param kind the kind of socket */
    explicit KernelSocketMixin(const KernelSocketCore::Kind& kind) : m_core(MakeCore(kind))
    {
    }

    /** Creates a socket for a connection that @p other accepts, with @p other's settings and
     * callbacks.
     * @param other the listening socket
     */
    KernelSocketMixin(const KernelSocketMixin& other)
        : Base(other), KernelSocketOptions(), m_core(MakeCore(other.m_core->GetKind()))
    {
    }

    /** @return the core, which implements this socket */
    KernelSocketCore& Core() const
    {
        return *m_core;
    }

    void DoDispose() override
    {
        m_core->SetPrepare({});
        Base::DoDispose();
    }

  private:
    static constexpr uint32_t BACKLOG = 4096; //!< argument of listen(2); at most somaxconn applies

    std::unique_ptr<KernelSocketCore> MakeCore(const KernelSocketCore::Kind& kind)
    {
        return std::make_unique<KernelSocketCore>(*this, kind, [this] {
            auto socket = CopyObject<Self>(Ptr<Self>(static_cast<Self*>(this)));
            return std::pair(Ptr<Socket>(socket), socket->KernelSocketMixin::m_core.get());
        });
    }

    std::unique_ptr<KernelSocketCore> m_core; //!< implements this socket
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_SOCKET_MIXIN_H */
