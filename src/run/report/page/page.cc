#include "run/report/page/page.h"

#include <fmt/format.h>

#include "base/text/json_text.h"

namespace viaduct::run::page {

std::string EscapeHtml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string DataElement(const std::string& id, const nlohmann::json& data) {
  std::string text;
  for (const char c : JsonText(data)) {
    // Escapes "<", so that the text contains neither "</script" nor "<!--".
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, text);
}

std::string Page(const std::string& title, const std::string& body, const char* script) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\n"
      "<style>{}\n{}</style>\n</head><body>\n{}<script>{}\n{}\n{}\n{}</script>\n</body></html>\n",
      EscapeHtml(title), kUplotStyle, kStyle, body, kUplotScript, kLayoutScript, kChartScript,
      script);
}

std::string ViewPage() { return Page("Viaduct", kViewBody, kViewScript); }

}  // namespace viaduct::run::page
