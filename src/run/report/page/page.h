// The parts of the pages that the product writes: the report of a run, and the page of `viaduct
// view`. The texts are the files of this folder (embed.cmake). The pages load no other files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace viaduct::run::page {

// The script and the style of uPlot; both are empty in a build without uPlot (setup/uplot).
extern const char *const kUplotScript, *const kUplotStyle;
extern const char *const kStyle, *const kLayoutScript, *const kChartScript, *const kReportScript;
extern const char *const kViewScript, *const kViewBody;

std::string EscapeHtml(const std::string& text);
// Returns a script element whose text is JSON, escaped so that the text cannot end the element.
std::string DataElement(const std::string& id, const nlohmann::json& data);
// Returns a complete page: `body` is HTML; `script` runs after uPlot, layout.js and chart.js.
std::string Page(const std::string& title, const std::string& body, const char* script);
// Returns the page of `viaduct view`, which reads /state and other data from its server.
std::string ViewPage();

}  // namespace viaduct::run::page
