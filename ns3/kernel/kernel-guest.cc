/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-guest.h"

#include "ns3/base/choice-value.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/kernel/kernel-calendar.h"
#include "ns3/kernel/kernel-node.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "base/random.h"
#include "guest/image/image.h"
#include "sys/process/find_program.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace ns3
{

using namespace viaduct::guest;

NS_LOG_COMPONENT_DEFINE("KernelGuest");

NS_OBJECT_ENSURE_REGISTERED(KernelGuest);

namespace
{

/**
 * Returns the MAC address of a device; for a device without an Ethernet address (LTE), returns a
 * generated, locally administered address.
 */
viaduct::wire::MacAddress
MacOf(Ptr<NetDevice> device)
{
    const Address address = device->GetAddress();
    if (Mac48Address::IsMatchingType(address))
    {
        return wireconversion::ToWire(Mac48Address::ConvertFrom(address));
    }
    const uint32_t node = device->GetNode()->GetId();
    return {{2,
             'V',
             static_cast<uint8_t>(node >> 16),
             static_cast<uint8_t>(node >> 8),
             static_cast<uint8_t>(node),
             static_cast<uint8_t>(device->GetIfIndex())}};
}

/** Throws a viaduct::UsageError if a word of the attribute BootParameters sets a kernel parameter
 * that the simulator sets. */
void
CheckBootParameter(const std::string& word)
{
    const std::string name = word.substr(0, word.find('='));
    for (const char* own : {"mem",
                            "init",
                            "root",
                            "rootflags",
                            "rootfstype",
                            "time-travel",
                            "time-travel-start",
                            "uml_dir",
                            "umid",
                            "virtio_uml.device"})
    {
        if (name == own)
        {
            throw viaduct::UsageError("BootParameters of kernel guests: " + word + ": " + name +
                                      " is set by the simulator; remove this parameter" +
                                      (name == "mem" ? ", and use the attribute Memory" : ""));
        }
    }
}

} // namespace

TypeId
KernelGuest::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelGuest")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelGuest>()
            .AddAttribute("Kernel",
                          "The kernel: empty for the newest kernel that was built (see viaduct "
                          "kernel list), a release such as 6.12, or the path of an executable.",
                          StringValue(""),
                          MakeStringAccessor(&KernelGuest::m_kernel),
                          MakeStringChecker())
            .AddAttribute(
                "Memory",
                "The guest's memory in MiB; 0: enough for the guest's nodes and devices. The guest "
                "takes from this machine only the memory pages that the guest uses.",
                UintegerValue(0),
                MakeUintegerAccessor(&KernelGuest::m_memory),
                MakeUintegerChecker<uint32_t>(0, 65536))
            .AddAttribute("BootParameters",
                          "Additional parameters for the kernel's command line.",
                          StringValue(""),
                          MakeStringAccessor(&KernelGuest::m_bootParameters),
                          MakeStringChecker())
            .AddAttribute(
                "Place",
                "Where the guest's kernel runs: in the simulator's process (Embedded), or in a "
                "separate process (Process), which is slower but gives the same results. A kernel "
                "that cannot run in the simulator's process always runs in a separate process.",
                EnumValue(EMBEDDED),
                MakeEnumAccessor<Place>(&KernelGuest::m_place),
                MakeChoiceChecker<Place>("Place of ns3::KernelGuest",
                                         {{EMBEDDED, "Embedded"}, {PROCESS, "Process"}}))
            .AddAttribute("ServeSockets",
                          "Whether the guest's kernel transfers the data of applications' sockets, "
                          "which requires a kernel with patch 0011, instead of a program in the "
                          "guest (the agent). The kernel takes half of the wall time for the same "
                          "TCP data; traces differ in the order of events at the same time.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&KernelGuest::m_serveSockets),
                          MakeBooleanChecker());
    return tid;
}

void
KernelGuest::DoDispose()
{
    m_nodes.clear();
    m_agent.reset();
    m_sockets.reset();
    m_control.reset();
    m_guest = nullptr;
    Object::DoDispose();
}

GuestOptions
KernelGuest::Options() const
{
    GuestOptions options;
    options.image = FindImage(m_kernel);
    options.init = viaduct::sys::FindCompanion("viaduct-guest");
    options.preload = viaduct::sys::FindCompanion("libviaduct-random.so");
    options.boot_parameters.push_back("VIADUCT_CONTROL_MTU=" + std::to_string(ControlNic::kMtu));
    std::istringstream words(m_bootParameters);
    for (std::string word; words >> word;)
    {
        CheckBootParameter(word);
        options.boot_parameters.push_back(word);
    }
    // The random stream of the guest depends on ns-3's seed and run and on the guest's number.
    const std::string name = "kernel guest " + std::to_string(m_number) + " run " +
                             std::to_string(RngSeedManager::GetRun());
    options.seed = viaduct::RandomStream(RngSeedManager::GetSeed(), name).Next();
    return options;
}

std::string
KernelGuest::Describe() const
{
    std::string text = "guest " + std::to_string(m_number) + " (";
    text += m_names.empty() ? "no nodes" : m_names.front();
    if (m_names.size() > 1)
    {
        text += (m_names.size() > 2 ? " ... " : ", ") + m_names.back();
    }
    return text + ")";
}

void
KernelGuest::Enter()
{
    auto calendar = KernelCalendar::Get();
    m_number = static_cast<uint32_t>(calendar->GetCalendar().guests());
    m_options = Options();
    calendar->Add(this);
    Calendar& entered = calendar->GetCalendar();
    m_guest = &entered.AddGuest(Describe(), [this](const GuestEndpoints& endpoints) {
        ChoosePlace();
        return GuestProcess(m_options, endpoints);
    });
    m_control = std::make_unique<ControlNic>(entered, *m_guest);
    m_agent = std::make_shared<AgentClient>(*m_control, [&entered](std::function<void()> action) {
        entered.Schedule(entered.Present(), std::move(action));
    });
    if (m_serveSockets)
    {
        m_sockets = std::make_unique<KernelSockets>(entered, *m_guest);
        m_agent->SetSocketService(*m_sockets);
    }
    // The kernel's default buffer sizes depend on the guest's memory; the values below are the
    // defaults of a large machine, because hosts with ns-3's own stack have no memory limits. All
    // namespaces of the guest inherit the values (net/ipv4/tcp_ipv4.c, tcp_sk_init();
    // net/ipv6/addrconf.c, addrconf_init_net()).
    const std::pair<const char*, const char*> defaults[] = {
        {"net.core.devconf_inherit_init_net", "1"},
        {"net.ipv4.ip_forward", "1"}, // nodes of ns-3 forward IPv4, but not IPv6, by default
        {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
        {"net.ipv4.tcp_wmem", "4096 16384 4194304"},
        {"net.ipv6.conf.all.keep_addr_on_down", "1"}, // ns-3's own stack also keeps addresses
        {"net.ipv6.conf.default.accept_dad", "0"},
        {"net.ipv6.conf.all.accept_dad", "0"}};
    for (const auto& [name, value] : defaults)
    {
        m_agent->WriteSysctl(viaduct::guest::agent::kGuestItself, name, value);
    }
    m_agent->HoldSockets();
}

void
KernelGuest::HaveProcess(const std::string& why)
{
    if (MayBeEmbedded())
    {
        m_place = PROCESS;
        NS_LOG_INFO(Describe() << " runs in a separate process: " << why);
    }
}

void
KernelGuest::ChoosePlace()
{
    if (!MayBeEmbedded())
    {
        return;
    }
    const std::string why = EmbeddingUnavailable(m_options);
    m_options.embedded = why.empty();
    NS_LOG_INFO(Describe() << (why.empty() ? " runs in this process"
                                           : " runs in a separate process: " + why));
}

uint32_t
KernelGuest::AddNode(Ptr<KernelNode> node, const std::string& name)
{
    if (KernelCalendar::Get()->HasBooted())
    {
        throw viaduct::UsageError("a kernel was installed on node " + name +
                                  " while the simulation runs; install kernels before the "
                                  "simulation starts");
    }
    m_nodes.push_back(node);
    m_names.push_back(name);
    m_guest->SetName(Describe());
    return m_agent->CreateNode(name);
}

Nic&
KernelGuest::AddNic(Ptr<NetDevice> device)
{
    return AddNic(MacOf(device));
}

Nic&
KernelGuest::AddNic(const viaduct::wire::MacAddress& mac)
{
    if (!m_macs.insert(mac).second)
    {
        throw viaduct::UsageError("two devices of " + Describe() + " have the MAC address " +
                                  mac.ToString() + ": assign different addresses");
    }
    return m_guest->AddNic(mac);
}

void
KernelGuest::Prepare()
{
    for (const auto& node : m_nodes)
    {
        node->Prepare();
    }
    // The guest's memory in MiB: twice the memory that each namespace and each device (with its
    // ring of buffers) needs. With many devices, which do not all need this memory at once, the
    // memory is smaller, because at boot a kernel writes 1/64 of it (the descriptors of all pages).
    constexpr size_t OF_MANY = 512;
    const size_t twice = 64 + 2 * (m_nodes.size() + m_macs.size());
    const size_t wanted = twice <= OF_MANY ? twice : OF_MANY + (twice - OF_MANY) / 2;
    m_options.memory_mib = m_memory != 0 ? m_memory : static_cast<uint32_t>(wanted);
}

void
KernelGuest::CheckBooted()
{
    if (!m_control->agent_ready())
    {
        throw viaduct::Error(
            "kernel " + Describe() +
            ": the guest's agent does not answer; the last lines of the guest's console: " +
            m_guest->console().LastLines(5));
    }
}

void
KernelGuest::StartNodes()
{
    const bool booting = KernelCalendar::Get()->GetCalendar().booting();
    const auto isConfigured = [](const auto& node) { return node->IsConfigured(); };
    if (booting || !std::all_of(m_nodes.begin(), m_nodes.end(), isConfigured))
    {
        return;
    }
    for (const auto& node : m_nodes)
    {
        node->StartRoutes();
    }
    m_agent->ReleaseSockets();
}

uint32_t
KernelGuest::GetMaxDevices() const
{
    return static_cast<uint32_t>(m_options.image.devices) - 1; // minus the control device
}

} // namespace ns3
