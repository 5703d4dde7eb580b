#pragma once

#include <span>
#include <string>

#include "coordinator/route.h"

/// What the web page loads: itself, its files, rows column by column, and the roofs of devices.
namespace headsplit::coordinator {

std::span<const Route> page_routes();

/// Makes what the page's files are made of, once; otherwise the first request waits for it.
void prepare_page();

/// The page and its files hold no data, so they need no token: the page asks for it.
bool is_page_file(const std::string& path);

}  // namespace headsplit::coordinator
