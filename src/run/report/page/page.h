// The parts of the pages that the product writes: a run's report, and the page of `viaduct view`.
// The texts are this folder's files (embed.cmake). Pages load nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace viaduct::run::page {

// The texts of uPlot are empty in a build without it (setup/uplot).
extern const char *const kUplotScript, *const kUplotStyle;
extern const char *const kStyle, *const kLayoutScript, *const kChartScript, *const kReportScript;
extern const char *const kViewScript, *const kViewBody;

std::string EscapeHtml(const std::string& text);
// Returns an element whose text is JSON, escaped so that it cannot end the element.
std::string DataElement(const std::string& id, const nlohmann::json& data);
// Returns a whole page: `body` is HTML, `script` runs after uPlot, layout.js and chart.js.
std::string Page(const std::string& title, const std::string& body, const char* script);
// Returns the page of `viaduct view`, which reads /state and other data from its server.
std::string ViewPage();

}  // namespace viaduct::run::page
