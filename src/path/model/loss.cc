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
    const auto given = ParseParameters(model, parameters, table);
    if (!given[0]) {
      throw UsageError(fmt::format("{0}: needs {1}, as in {0}:{2}", Model::kName, table[0].name,
                                   Model::kExample));
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
std::string FormatModel(const Chance& chance) { return FormatChance(chance); }

struct LossRow {
  std::string_view name;
  Loss (*parse)(std::string_view parameters);
};
template <class>
struct LossRows;
template <class... Named>
struct LossRows<std::variant<Chance, Named...>> {
  static constexpr LossRow kAll[] = {{Named::kName, ParseModel<Named>}...};
};

}  // namespace

Loss ParseLoss(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  std::vector<std::string_view> known;
  for (const LossRow& row : LossRows<Loss>::kAll) {
    if (row.name == head) return row.parse(parameters);
    known.push_back(row.name);
  }
  if (!head.empty() && (head[0] < '0' || head[0] > '9')) {
    throw UsageError(fmt::format("\"{}\": unknown; give a probability as in \"1%\", or one of {}",
                                 head, fmt::join(known, ", ")));
  }
  return ParseChance(value);
}

std::string FormatLoss(const Loss& loss) {
  return std::visit([](const auto& model) { return FormatModel(model); }, loss);
}

void CheckLoss(const Loss& loss) {
  std::visit([](const auto& model) { model.Check(); }, loss);
}

LossModel::LossModel(const Loss& loss, const FileReader& read_file) : model_(loss) {
  const auto open = [&](auto& model) {
    if constexpr (requires { model.Open(read_file); }) model.Open(read_file);
  };
  std::visit(open, model_);
}

}  // namespace viaduct::path
