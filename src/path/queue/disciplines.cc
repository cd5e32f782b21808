#include "path/queue/disciplines.h"

#include "path/grammar/parameters.h"
#include "path/queue/codel_queue.h"
#include "path/queue/dualpi2_queue.h"
#include "path/queue/fq_codel_queue.h"
#include "path/queue/fq_pie_queue.h"
#include "path/queue/pie_queue.h"
#include "path/queue/red_queue.h"

namespace viaduct::path {
namespace {

// Returns the row of a discipline. `Queue` must have: Parameters (with their table and their check,
// path/grammar/parameters.h), kDefaultLimit, and a constructor from Parameters and a QueueSetup.
template <class Queue>
constexpr Discipline RowOf(std::string_view name) {
  return {
      name, Queue::kDefaultLimit, NormalizeParameters<typename Queue::Parameters>,
      [](std::string_view parameters, const QueueSetup& setup) -> std::unique_ptr<QueueDiscipline> {
        return std::make_unique<Queue>(ReadParameters<typename Queue::Parameters>(parameters),
                                       setup);
      }};
}

constexpr Discipline kDisciplines[] = {RowOf<CodelQueue>("codel"),  RowOf<PieQueue>("pie"),
                                       RowOf<RedQueue>("red"),      RowOf<FqCodelQueue>("fq_codel"),
                                       RowOf<FqPieQueue>("fq_pie"), RowOf<DualPi2Queue>("dualpi2")};

const Discipline& FindDiscipline(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Discipline& discipline : kDisciplines) {
    if (discipline.name == name) return discipline;
    known.push_back(discipline.name);
  }
  throw UsageError(
      fmt::format("\"{}\": unknown; expected one of {}", name, fmt::join(known, ", ")));
}

}  // namespace

std::span<const Discipline> Disciplines() { return kDisciplines; }

Aqm ParseAqm(std::string_view value) {
  const auto [name, parameters] = SplitHead(value);
  return Aqm(name, FindDiscipline(name).normalize(parameters));
}

std::string FormatAqm(const Aqm& aqm) { return JoinHead(aqm.name, aqm.parameters); }

std::unique_ptr<QueueDiscipline> MakeQueueDiscipline(const QueueSpec& spec, FrameStore& store,
                                                     const PipelineOptions& options,
                                                     const FrameOverhead& overhead) {
  QueueSetup setup{spec.limit.value_or(FifoQueue::kDefaultLimit),
                   store,
                   options.Stream("queue"),
                   options.make_fifo,
                   options.max_packet,
                   overhead};
  if (spec.aqm) {
    const Discipline& discipline = FindDiscipline(spec.aqm->name);
    setup.limit = spec.limit.value_or(discipline.default_limit);
    return discipline.make(spec.aqm->parameters, setup);
  }
  if (spec.drop == DropAt::kHead) return std::make_unique<HeadDropQueue>(setup);
  return std::make_unique<FifoQueue>(setup);
}

}  // namespace viaduct::path
