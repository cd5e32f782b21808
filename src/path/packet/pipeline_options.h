// The arguments with which the stages of a pipeline are constructed, in addition to the stages'
// parts of the SPEC.
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
// Reads a file that a SPEC names (trace, .dist) and returns its complete text; throws UsageError if
// the file cannot be read.
using FileReader = std::function<std::string(const std::string& path)>;

struct PipelineOptions {
  uint64_t seed = 1;
  std::string name;      // with the seed, determines this pipeline's random streams
  std::string pair;      // with the seed, determines the random streams that both directions share
  FifoMaker make_fifo;   // creates each Fifo of the pipeline; absent: Fifos in memory
  FileReader read_file;  // when absent a SPEC that names a file is an error
  // The maximum frame length of the link in bytes (MTU and Ethernet header), which the queue
  // disciplines use as MAXPACKET.
  uint32_t max_packet = 1514;
  // The bytes of a tag that frames have on the link but not in the pipeline: the rate includes
  // these bytes.
  int64_t tag_bytes = 0;
  // The NAT of the pair, for both pipelines of the pair and the pipelines of its classes; when
  // absent, a SPEC that has a NAT is an error.
  std::shared_ptr<Nat> nat;
  Direction direction = Direction::kUp;  // direction of the pipeline in its pair
  bool is_class = false;                 // the pipeline belongs to a class of the pair's packets
  // The shared links of the pipeline's thread; when absent, a SPEC that names a shared link is an
  // error.
  SharedLinks* links = nullptr;
  // A function that is called when a call of another pipeline has passed a packet to this pipeline:
  // NextEvent() may have changed.
  std::function<void()> woken;

  // Returns the random stream of one stage: "loss", "queue"...
  RandomStream Stream(const char* stage) const { return RandomStream(seed, name + " " + stage); }
};

}  // namespace viaduct::path
