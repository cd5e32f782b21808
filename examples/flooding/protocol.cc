// The protocol of controlled flooding, an ns3::Object of a node: hellos find the neighbours, and
// the forwarding program's table says by which ports these are.
#include <vector>

#include "format.h"
#include "ns3/frame-forwarder.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace flooding {

using namespace ns3;

class Protocol : public Object {
 public:
  static TypeId GetTypeId() {
    static TypeId tid =
        TypeId("flooding::Protocol")
            .SetParent<Object>()
            .AddConstructor<Protocol>()
            .AddAttribute("HelloInterval", "Time between two hellos.", TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&Protocol::m_interval), MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("MissedHellos", "So many are missed when a neighbour is gone.",
                          UintegerValue(3), MakeUintegerAccessor(&Protocol::m_missed),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Hops", "How many nodes may pass a frame on.", UintegerValue(16),
                          MakeUintegerAccessor(&Protocol::m_hops),
                          MakeUintegerChecker<uint32_t>(1, 255));
    return tid;
  }

 protected:
  void DoInitialize() override {
    m_forwarder = GetObject<FrameForwarder>();
    NS_ABORT_MSG_IF(m_forwarder->GetNPorts() > kMostPorts,
                    "a node has more ports than " << kMostPorts);
    m_gone.resize(m_forwarder->GetNPorts());
    m_forwarder->SetReady(false);
    GetObject<Node>()->RegisterProtocolHandler(MakeCallback(&Protocol::Receive, this), kHelloType,
                                               nullptr);
    SendHellos();
    // Each neighbour has sent a hello by then.
    Simulator::Schedule(m_interval + m_interval / 2, &Protocol::Begin, this);
    Object::DoInitialize();
  }

  void DoDispose() override {
    m_hello.Cancel();
    for (EventId& gone : m_gone) gone.Cancel();
    m_forwarder = nullptr;
    Object::DoDispose();
  }

 private:
  void Begin() {
    if (!m_forwarder) return;
    m_forwarder->SetWord(kHopsWord, m_hops);
    m_forwarder->SetReady(true);
  }

  void SendHellos() {
    for (uint32_t port = 0; port < m_forwarder->GetNPorts(); ++port) {
      m_forwarder->GetPort(port)->Send(Create<Packet>(1), Mac48Address::GetBroadcast(), kHelloType);
    }
    m_hello = Simulator::Schedule(m_interval, &Protocol::SendHellos, this);
  }

  void Receive(Ptr<NetDevice> device, Ptr<const Packet>, uint16_t, const Address&, const Address&,
               NetDevice::PacketType) {
    const uint32_t port = m_forwarder ? m_forwarder->GetPortIndex(device) : UINT32_MAX;
    if (port >= m_gone.size()) return;
    m_forwarder->SetWord(port, kNeighbour);
    m_gone[port].Cancel();
    m_gone[port] =
        Simulator::Schedule(m_interval * m_missed + m_interval / 2, &Protocol::Lose, this, port);
  }

  void Lose(uint32_t port) { m_forwarder->SetWord(port, kGone); }

  Time m_interval;
  uint32_t m_missed = 0, m_hops = 0;
  Ptr<FrameForwarder> m_forwarder;
  std::vector<EventId> m_gone;  // by port: Lose()
  EventId m_hello;
};

NS_OBJECT_ENSURE_REGISTERED(Protocol);

}  // namespace flooding
