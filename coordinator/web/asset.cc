#include "coordinator/web/asset.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"

namespace headsplit::coordinator {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

}  // namespace

const Asset* find_asset(std::string_view path) {
  const auto all = assets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Asset& asset) { return asset.path == path; });
  return found == all.end() ? nullptr : &*found;
}

std::string content_type_of(std::string_view path) {
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return std::string(type);
  }
  return "application/octet-stream";
}

std::string sha256_base64(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return std::string(encoded.begin(), encoded.begin() + length);
}

std::string entity_tag(std::string_view content) {
  return "\"" + sha256_base64(content).substr(0, 22) + "\"";
}

}  // namespace headsplit::coordinator
