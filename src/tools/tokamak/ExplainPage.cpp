//===- ExplainPage.cpp - an explanation as a page to explore -------------------------------------===//
#include "ExplainPage.h"
#include "ExplainFormats.h"

// ExplainPage.S
extern "C" const char tokamak_page_markup[], tokamak_page_style[], tokamak_page_layout[], tokamak_page_view[],
    tokamak_page_details[];

namespace tokamak::tool {

/// JSON that cannot end the script element which holds it, whatever the names in it are. Only strings hold
/// '<'.
static std::string insideScript(const std::string &json) {
  std::string result;
  for (char c : json) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

std::string explanationPage(const std::string &model, const std::string &fusion,
                            const driver::Explanation &explanation) {
  std::string page = tokamak_page_markup;
  page += "<style>\n";
  page += tokamak_page_style;
  page += "</style>\n<script type=\"application/json\" id=\"data\">";
  page += insideScript(explanationJson(model, fusion, explanation, JsonLayout::OneLine));
  page += "</script>\n";
  for (const char *script : {tokamak_page_layout, tokamak_page_view, tokamak_page_details}) {
    page += "<script>\n";
    page += script;
    page += "</script>\n";
  }
  return page + "</body>\n</html>\n";
}

} // namespace tokamak::tool
