// Fuzzes the code of src/plane/rbridge with frames and PDUs as from the network: no bytes may make
// it read or write out of bounds, and content that it reads must be written again unchanged.
#include <memory>
#include <span>

#include "plane/rbridge/database.h"
#include "plane/rbridge/forward.h"

using namespace viaduct;
using namespace viaduct::rbridge;

namespace {

template <class Pdu>
void ReadTwice(wire::ConstBytes bytes) {
  const auto pdu = Pdu::Parse(bytes);
  if (!pdu) return;
  const auto again = Pdu::Parse(pdu->Write());
  if (!again || *again != *pdu) __builtin_trap();
}

const Tables& SomeTables() {
  static const auto tables = [] {
    auto made = std::make_unique<Tables>();
    made->Clear();
    made->nickname = 1;
    made->by_nickname[1] = 0;
    for (PortIndex i = 0; i < 3; ++i) {
      made->ports[i] = {.mac = {{2, 0, 0, 0, 0, static_cast<uint8_t>(i)}},
                        .exists = true,
                        .serves_terminals = true};
      made->SetAdjacency(i, {.mac = {{2, 0, 0, 0, 1, static_cast<uint8_t>(i)}}, .port = i});
      made->rbridges[i + 1].nickname = static_cast<Nickname>(i + 2);
      made->rbridges[i + 1].next_hop = i;
      made->rbridges[i + 1].tree_neighbour[0] = i;
      made->by_nickname[i + 2] = static_cast<RBridgeIndex>(i + 1);
      made->trees[0].neighbours.set(i);
    }
    made->trees[0].root = 2;
    made->own_tree = 0;
    return made;
  }();
  return *tables;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  ReadTwice<Hello>(input);
  ReadTwice<SequenceNumbers>(input);
  ReadTwice<Lsp>(input);
  LspContent content;
  ReadFragment(input, content);
  WriteFragments({}, content);

  static Decision decision;
  Forward(SomeTables(), size % 4, input, decision);
  for (const Output& output : decision.sends()) {
    if (output.port >= kMaxPorts || output.strip > size) __builtin_trap();
  }
  return 0;
}
