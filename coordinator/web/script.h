#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace headsplit::coordinator {

/// One script of a module and all that it imports, for pages that are a single file: browsers load
/// no modules from file://.  Each module becomes a function whose exports are kept by name, so
/// equal private names do not meet.
/// entry: path of an asset, "js/main.js".  Understood, and enough for our modules: one
/// `import { names } from "./other.js";` a statement, and `export` before a function, class or
/// const at the start of a line.
/// Fails: config (a module that does not exist, imports in a circle, another form of import).
Result<std::string> linked_script(std::string_view entry);

}  // namespace headsplit::coordinator
