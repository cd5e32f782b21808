// The values of the SPEC's key loss, and of those that are a probability with a correlation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "path/spec/spec.h"
#include "path/spec/spec_parameters.h"

namespace viaduct::path {

Chance ParseChance(std::string_view value);
std::string FormatChance(const Chance& chance);

Loss ParseLoss(std::string_view value);
std::string FormatLoss(const Loss& loss);
// Whether the numbers make sense together; throws UsageError.
void CheckLoss(const Loss& loss);

}  // namespace viaduct::path
