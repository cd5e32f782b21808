/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_CORE_H
#define VIADUCT_KERNEL_SOCKET_CORE_H

#include "ns3/address.h"
#include "ns3/ipv6-address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"

#include "guest/agent/agent_client.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ns3
{

class KernelSocketStack;
class NetDevice;

/**
 * @ingroup viaduct
 * @brief The socket of a kernel node, or of a node with HostSockets: implements the interface of
 * ns-3's Socket by a socket of the kernel.
 *
 * The kernel's socket is opened when its address family is known (Bind, Connect, SendTo). Data that
 * the application sends is passed to the agent at the end of the instant, at most "send buffer"
 * bytes more than the kernel has accepted; arriving data is fetched up to "receive buffer" bytes
 * ahead of the application, further data stays in the kernel's buffer and closes its window. Only
 * bytes are transferred: packet tags and packet boundaries of streams are lost.
 */
class KernelSocketCore : public viaduct::guest::SocketEvents
{
  public:
    /** The kind of a socket. */
    struct Kind
    {
        Socket::SocketType socketType{Socket::NS3_SOCK_STREAM}; //!< socket type of ns-3
        int type{0};                                            //!< kernel's type: SOCK_STREAM...
        int protocol{0};                                        //!< protocol: IPPROTO_...
        bool connects{false};                                   //!< whether connection-oriented
        bool stream{false};                                     //!< whether data has no boundaries
        uint32_t maxDatagram{0};                                //!< maximum message size; 0: any
        bool halfCloses{true}; //!< whether shutdown(2) notifies the peer of the end of the data
    };

    /** The default size of the send and receive buffers in bytes, as in ns-3's sockets. If a size
     * has this default, the kernel chooses the size of its own buffer. */
    static constexpr uint32_t DEFAULT_BUFFER = 131072;

    /** Creates a socket with the class and the callbacks of an existing socket; returns the new
     * socket and its core. */
    using Fork = std::function<std::pair<Ptr<Socket>, KernelSocketCore*>()>;

    /**
     * @param socket the ns-3 socket that uses this core; must outlive this core
     * @param kind the kind of socket
     * @param fork creates the socket of an accepted connection
     */
    KernelSocketCore(Socket& socket, const Kind& kind, Fork fork);
    ~KernelSocketCore() override;
    KernelSocketCore(const KernelSocketCore&) = delete;
    KernelSocketCore& operator=(const KernelSocketCore&) = delete;

    /** @return the kind of this socket */
    const Kind& GetKind() const
    {
        return m_kind;
    }

    /** @param node the node; it must have a KernelSocketStack */
    void SetNode(Ptr<Node> node);
    /** @return the node */
    Ptr<Node> GetNode() const
    {
        return m_node;
    }

    /** @param protocol the protocol of a raw socket; must be set before the socket is opened */
    void SetProtocol(int protocol)
    {
        m_kind.protocol = protocol;
    }

    /**
     * Makes this socket the socket of an accepted connection.
     * @param listener the socket that has accepted the connection
     * @param accepted the number and the addresses of the connection's socket in the kernel
     */
    void BecomeAccepted(const KernelSocketCore& listener,
                        const viaduct::guest::agent::Accepted& accepted);

    /**
     * @param bytes the maximum number of bytes that the agent has and the kernel has not accepted;
     * if the maximum changes, the kernel's buffer is set, too (SO_SNDBUF)
     */
    void SetSendBuffer(uint32_t bytes);
    /**
     * @param bytes the maximum number of bytes that wait in this object for the application; if the
     * maximum changes, the kernel's buffer is set, too (SO_RCVBUF)
     */
    void SetReceiveBuffer(uint32_t bytes);
    /** @return the maximum that SetSendBuffer() has set */
    uint32_t GetSendBuffer() const
    {
        return m_sendBuffer;
    }

    /** @return the maximum that SetReceiveBuffer() has set */
    uint32_t GetReceiveBuffer() const
    {
        return m_receiveBuffer;
    }

    /** @name Functions with the names and meanings of the functions of Socket @{ */
    int Bind(const Address& address);
    int BindAny(bool ipv6);
    int Connect(const Address& address);
    int Listen(uint32_t backlog);
    // Send() and SendTo() refuse flags that change the data or its handling (MSG_OOB...):
    // ERROR_OPNOTSUPP.
    int Send(Ptr<const Packet> packet, uint32_t flags);
    int SendTo(Ptr<const Packet> packet, uint32_t flags, const Address& to);
    Ptr<Packet> RecvFrom(uint32_t maxSize, uint32_t flags, Address* from);
    int Close();
    int ShutdownSend();
    int ShutdownRecv();
    uint32_t GetTxAvailable() const;
    uint32_t GetRxAvailable() const;
    int GetSockName(Address& address) const;
    int GetPeerName(Address& address) const;
    void BindToNetDevice(Ptr<NetDevice> device);
    bool SetAllowBroadcast(bool allow);
    bool GetAllowBroadcast() const
    {
        return m_broadcast;
    }

    Socket::SocketErrno GetErrno() const
    {
        return m_errno;
    }

    /** @} */

    /**
     * @param level SOL_SOCKET, IPPROTO_TCP...
     * @param name the option
     * @param value the option's value; if the socket is not open yet, values are kept, and then set
     * in the order of the calls
     * @return 0
     */
    int SetSockOpt(int level, int name, std::span<const std::byte> value);
    /** @copydoc SetSockOpt(int,int,std::span<const std::byte>) */
    int SetSockOpt(int level, int name, int value);
    /** A function that returns an option's value. The function is called when the node's interfaces
     * are known, and owns all data that it uses. */
    using LateValue = viaduct::guest::AgentClient::Payload;
    /** Sets an option whose value depends on an interface index, which is unknown before the start
     * of the simulation.
     * @param level SOL_SOCKET, IPPROTO_TCP...
     * @param name the option
     * @param value returns the option's value
     * @return 0
     */
    int SetSockOptLate(int level, int name, LateValue value);
    /**
     * @param level SOL_SOCKET, IPPROTO_TCP...
     * @param name the option
     * @param value set to the option's value
     * @return 0, or -1 if the kernel has no such option, or the socket is not open
     */
    int GetSockOpt(int level, int name, std::vector<std::byte>* value);
    /** The options for packets to groups. The options are set on the kernel's socket before the
     * socket's next packet to a group. */
    struct Groups
    {
        uint8_t hops{0}; //!< TTL or hop limit; 0: the value of the packet's tag, or ns-3's default
        int32_t interface {
            0
        };                //!< interface number in the node's Ipv4 or Ipv6 object; <= 0: by routes
        bool loop{false}; //!< whether members on the node itself receive the packets, too
    };

    /** @return the options for packets to groups, to be read and changed at any time */
    Groups& GroupOptions()
    {
        return m_groups;
    }

    /** @return whether this is an IPv6 socket; false for a socket that was never opened */
    bool IsIpv6() const;
    /**
     * Modifies a received packet; returns false if the packet is not for this socket and is
     * dropped.
     */
    using Prepare = std::function<bool(Ptr<Packet>, const Data&)>;
    /** @param prepare called with each received packet before the application can read it */
    void SetPrepare(Prepare prepare)
    {
        m_prepare = std::move(prepare);
    }

    // inherited from SocketEvents
    void OnBound(const viaduct::guest::agent::Endpoint& local) override;
    void OnConnected(const viaduct::guest::agent::Endpoint& local,
                     const viaduct::guest::agent::Endpoint& peer) override;
    void OnAccepted(const viaduct::guest::agent::Accepted& accepted) override;
    void OnData(const Data& data) override;
    void OnWritten(uint64_t bytes) override;
    void OnEnd() override;
    void OnBroken(int errorNumber) override;
    void OnFailed(viaduct::guest::agent::Code code, int errorNumber) override;
    void OnOption(const viaduct::guest::agent::SocketOption& option,
                  std::span<const std::byte> value) override;

  private:
    using Endpoint = viaduct::guest::agent::Endpoint;
    using Code = viaduct::guest::agent::Code;

    /** The state of the socket. */
    enum State
    {
        UNOPENED,   //!< the kernel has no socket yet
        OPEN,       //!< the kernel has a socket, which is not connected
        LISTENING,  //!< the kernel's socket accepts connections
        CONNECTING, //!< the kernel was asked to connect its socket
        CONNECTED,  //!< the socket is connected, or is a datagram socket that has a peer
        CLOSED      //!< the kernel has no socket any more
    };

    /** A datagram or a piece of a stream. */
    struct Received
    {
        Ptr<Packet> packet; //!< the bytes
        Address from;       //!< the sender of a datagram
    };

    /** An option that was set. */
    struct Option
    {
        int level;       //!< level of the option: SOL_SOCKET...
        int name;        //!< name of the option at its level
        LateValue value; //!< returns the option's value
    };

    /** The protected functions of Socket that a core calls. */
    class Inside : public Socket
    {
      public:
        using Socket::IsManualIpTtl;
        using Socket::IsManualIpv6HopLimit;
        using Socket::IsManualIpv6Tclass;
        using Socket::NotifyConnectionFailed;
        using Socket::NotifyConnectionRequest;
        using Socket::NotifyConnectionSucceeded;
        using Socket::NotifyDataRecv;
        using Socket::NotifyDataSent;
        using Socket::NotifyErrorClose;
        using Socket::NotifyNewConnectionCreated;
        using Socket::NotifyNormalClose;
        using Socket::NotifySend;
    };

    int Fail(Socket::SocketErrno error);
    int OpenFor(const Address& address);
    void Open(int family);
    void TellOption(const Option& option);
    /**
     * @param packet the packet that is sent next, whose tags set options; null: none
     * @param to the packet's destination; null: none
     */
    void SyncOptions(Ptr<const Packet> packet = nullptr, const Endpoint* to = nullptr);
    void SyncGroupOptions(int tagged);
    void SyncOption(int level, int name, int value);
    int BindTo(const Endpoint& endpoint, bool await);
    Ptr<NetDevice> DeviceOf(const Ipv6Address& address) const;
    uint32_t TellWithScope(Code code, const Endpoint& endpoint);
    bool Claim(const Endpoint& endpoint);
    int SendBytes(Ptr<const Packet> packet, const Endpoint* to);
    Ptr<Packet> TakeStream(uint32_t maxSize);
    void Consumed(uint64_t bytes);
    void NotifySpace();
    void NotifyClosedOnce();
    [[noreturn]] void RefuseToOpen(int errorNumber) const;
    void CloseInKernel(bool abort);
    void AddTags(Ptr<Packet> packet, const Data& data) const;
    uint32_t Tell(Code code,
                  std::initializer_list<std::span<const std::byte>> parts = {},
                  uint16_t flags = 0);

    Socket& m_socket;                  //!< the socket that uses this core
    Kind m_kind;                       //!< the kind of socket
    Fork m_fork;                       //!< makes another socket of this kind
    Ptr<Node> m_node;                  //!< the socket's node
    Ptr<KernelSocketStack> m_stack;    //!< the node's stack
    State m_state{UNOPENED};           //!< the state
    uint32_t m_number{0};              //!< number of the kernel's socket; 0: none
    int m_family{0};                   //!< AF_INET, AF_INET6; 0: not opened
    bool m_bound{false};               //!< whether the kernel was asked to bind the socket
    bool m_sent{false};                //!< whether a datagram was sent
    Ptr<NetDevice> m_device;           //!< the device that the socket is bound to; null: none
    std::optional<Endpoint> m_claimed; //!< the name that Bind() claimed for a datagram socket
    std::optional<Endpoint> m_local;   //!< the local address, once it is known
    std::optional<Endpoint> m_peer;    //!< the peer's address, once there is one
    uint32_t m_bindRequest{0};         //!< number of the last request to bind; 0: none
    mutable Socket::SocketErrno m_errno{Socket::ERROR_NOTERROR}; //!< error of the last failure
    std::optional<int> m_answer; //!< errno of the awaited request, if the request has failed
    /** Value of the option that GetSockOpt() awaits. */
    std::optional<std::vector<std::byte>> m_option;
    bool m_shutdownSend{false};               //!< whether ShutdownSend() was called
    bool m_shutdownRecv{false};               //!< whether ShutdownRecv() was called
    bool m_closing{false};                    //!< whether Close() was called
    bool m_ended{false};                      //!< whether the peer has stopped sending
    bool m_closeNotified{false};              //!< whether a close callback was called
    bool m_broadcast{false};                  //!< the value of SetAllowBroadcast()
    bool m_refused{false};                    //!< whether a datagram could not be sent
    uint32_t m_sendBuffer{DEFAULT_BUFFER};    //!< the maximum of SetSendBuffer()
    uint32_t m_receiveBuffer{DEFAULT_BUFFER}; //!< the maximum of SetReceiveBuffer()
    uint64_t m_unwritten{0};                  //!< bytes sent that the kernel has not accepted
    uint64_t m_unreturned{0};        //!< bytes that were read but not yet reported to the agent
    uint64_t m_available{0};         //!< bytes in m_received
    std::deque<Received> m_received; //!< data waiting for the application
    std::map<std::pair<int, int>, int> m_synced; //!< option values of the kernel's socket
    std::vector<Option> m_options;               //!< options set before the socket was opened
    Groups m_groups;                             //!< options for packets to groups
    int32_t m_groupInterface{0};                 //!< Groups::interface that the kernel's socket has
    Prepare m_prepare;                           //!< the function of SetPrepare()
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_SOCKET_CORE_H */
