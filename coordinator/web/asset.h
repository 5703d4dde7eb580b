#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headsplit::coordinator {

/// A file of the web page as the build found it, carried inside the binary.
struct Asset {
  std::string_view path;  ///< below coordinator/web: "index.html", "js/main.js"
  std::string_view content;
};

/// All files of the page, sorted by path.
std::span<const Asset> assets();

/// The file of this path; nothing when there is none.
const Asset* find_asset(std::string_view path);

/// Media type by the end of a name ("text/javascript; charset=utf-8").
std::string content_type_of(std::string_view path);

/// An entity tag that changes with the content: quoted, as HTTP has it.
std::string entity_tag(std::string_view content);

/// SHA-256 of a text in base64, as Content-Security-Policy names what may run.
std::string sha256_base64(std::string_view text);

}  // namespace headsplit::coordinator
