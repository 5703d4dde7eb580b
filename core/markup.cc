#include "core/markup.h"

namespace headsplit {

std::string markup_text(std::string_view text) {
  std::string safe;
  for (const char byte : text) {
    switch (byte) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += static_cast<unsigned char>(byte) < 0x20 ? ' ' : byte;
    }
  }
  return safe;
}

}  // namespace headsplit
