#include "path/model/loss.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

template <class Model>
Loss ParseModel(std::string_view parameters) {
  if constexpr (requires { Model::Parse(parameters); }) {
    return Model::Parse(parameters);
  } else {
    Model model;
    const auto table = Model::Table();
    const auto given = ParseParameters(model, NameLeadingValues<Model>(parameters, table), table);
    if (!given[0]) {
      throw UsageError(fmt::format("{0} needs the parameter {1}, as in {0}:{2}", Model::kName,
                                   table[0].name, Model::kExample));
    }
    model.Complete(given);
    return model;
  }
}

template <class Model>
std::string FormatModel(const Model& model) {
  if constexpr (requires { model.Format(); }) {
    return JoinHead(Model::kName, model.Format());
  } else {
    return JoinHead(Model::kName, FormatAll(model, Model::Table()));
  }
}
std::string FormatModel(const RandomLoss& loss) { return FormatRandomLoss(loss); }

struct LossRow {
  std::string_view name;
  Loss (*parse)(std::string_view parameters);
};
template <class>
struct LossRows;
template <class... Named>
struct LossRows<std::variant<RandomLoss, Named...>> {
  static constexpr LossRow kAll[] = {{Named::kName, ParseModel<Named>}...};
};

Loss ParseOne(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  std::vector<std::string_view> known;
  for (const LossRow& row : LossRows<Loss>::kAll) {
    if (row.name == head) return row.parse(parameters);
    known.push_back(row.name);
  }
  if (!head.empty() && head[0] != '.' && (head[0] < '0' || head[0] > '9')) {
    throw UsageError(
        fmt::format("\"{}\": unknown; expected a probability such as \"1%\", or one of {}", head,
                    fmt::join(known, ", ")));
  }
  return ParseRandomLoss(value);
}

// Returns the end of the first model of a row: the position of a '+' that belongs neither to a
// number ("1e+0%") nor to the name of a trace's file.
size_t EndOfModel(std::string_view row) {
  if (row.starts_with(LossTrace::kName)) return row.npos;
  size_t plus = row.find('+');
  while (plus != row.npos && plus > 0 && (row[plus - 1] == 'e' || row[plus - 1] == 'E')) {
    plus = row.find('+', plus + 1);
  }
  return plus;
}

}  // namespace

LossSpec ParseLoss(std::string_view value) {
  LossSpec loss;
  for (bool more = true; more;) {
    const size_t end = EndOfModel(value);
    const std::string_view model = value.substr(0, end);
    more = end != value.npos;
    if (model.empty() && (more || !loss.empty())) {
      throw UsageError("a loss model is missing; specify a model on each side of \"+\"");
    }
    loss.push_back(ParseOne(model));
    if (more) value.remove_prefix(end + 1);
  }
  return loss;
}

std::string FormatLoss(const LossSpec& loss) {
  std::vector<std::string> models;
  for (const Loss& each : loss) {
    models.push_back(std::visit([](const auto& model) { return FormatModel(model); }, each));
  }
  return fmt::format("{}", fmt::join(models, "+"));
}

void CheckLoss(const LossSpec& loss) {
  if (loss.empty())
    throw UsageError("the loss model is missing; specify a model, or remove the key loss");
  for (const Loss& each : loss) {
    std::visit([](const auto& model) { model.Check(); }, each);
  }
  const auto ends_early = [](const Loss& each) { return std::holds_alternative<LossTrace>(each); };
  if (std::any_of(loss.begin(), loss.end() - 1, ends_early)) {
    throw UsageError(
        "the model trace must be the last model, because the file name may contain \"+\"");
  }
}

LossModel::LossModel(LossSpec loss, const PipelineOptions& options) : models_(std::move(loss)) {
  const auto open = [&](auto& model) {
    if constexpr (requires { model.Open(options); }) model.Open(options);
  };
  for (Loss& each : models_) std::visit(open, each);
}

void LossModel::Begin(Instant start, Instant now) {
  const auto begin = [&](auto& model) {
    if constexpr (requires { model.Begin(start, now); }) model.Begin(start, now);
  };
  for (Loss& each : models_) std::visit(begin, each);
}

}  // namespace viaduct::path
