// What the pages are made of that the product writes: a run's report, and that of `viaduct view`.
// The texts are this folder's files (embed.cmake). Pages load nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace viaduct::run::page {

// uPlot's are empty in a build without it (setup/uplot).
extern const char *const kUplotScript, *const kUplotStyle;
extern const char *const kStyle, *const kLayoutScript, *const kChartScript, *const kReportScript;
extern const char *const kViewScript, *const kViewBody;

std::string EscapeHtml(const std::string& text);
// An element whose text is JSON and ends nowhere inside.
std::string DataElement(const std::string& id, const nlohmann::json& data);
// A whole page: `body` is HTML, `script` the page's own, after uPlot, layout.js and chart.js.
std::string Page(const std::string& title, const std::string& body, const char* script);
// That of `viaduct view`, which reads /state and what else it needs from whom it came from.
std::string ViewPage();

}  // namespace viaduct::run::page
