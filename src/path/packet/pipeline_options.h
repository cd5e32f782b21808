// The arguments with which the stages of a pipeline are constructed, in addition to their part of
// the SPEC.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "path/packet/packet.h"
#include "path/packet/pipeline_name.h"

namespace viaduct::path {

class Nat;
class SharedLinks;
using FifoMaker = std::function<std::unique_ptr<Fifo>()>;
// Reads a file that a SPEC names (trace, .dist) and returns its whole text; throws UsageError.
using FileReader = std::function<std::string(const std::string& path)>;

struct PipelineOptions {
  uint64_t seed = 1;
  std::string name;      // with the seed, names this pipeline's random streams
  std::string pair;      // with the seed, names the random streams that both directions share
  FifoMaker make_fifo;   // creates each Fifo the pipeline needs; in memory when absent
  FileReader read_file;  // when absent a SPEC that names a file is an error
  // The maximum frame length of the link, MTU and Ethernet header: MAXPACKET of the disciplines.
  uint32_t max_packet = 1514;
  // Bytes of a tag that frames have on the link but not in the pipeline: they count for the rate.
  int64_t tag_bytes = 0;
  // The NAT of the pair, for both of its pipelines and those of its classes; when absent a SPEC
  // that has one is an error.
  std::shared_ptr<Nat> nat;
  Direction direction = Direction::kUp;  // direction of the pipeline in its pair
  bool is_class = false;                 // the pipeline is that of a class of the pair's packets
  // The shared links of the pipeline's thread; when absent a SPEC that names one is an error.
  SharedLinks* links = nullptr;
  // Called when another pipeline's call has given this one a packet: NextEvent() may have changed.
  std::function<void()> woken;

  // The random stream of one stage: "loss", "queue"...
  RandomStream Stream(const char* stage) const { return RandomStream(seed, name + " " + stage); }
};

}  // namespace viaduct::path
