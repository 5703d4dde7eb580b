#pragma once

#include <string>

#include "coordinator/http.h"

/// What keeps the pages of strangers away from a coordinator.  A browser on the same machine
/// reaches loopback for any page that it shows, so being on loopback protects from other machines
/// only.
namespace headsplit::coordinator {

/// Whether a page elsewhere sent what changes something: a browser names the page's origin with
/// each POST, DELETE and WebSocket, and other clients name none.  What only reads passes: without
/// permission from here, a browser shows the answer to no other origin.
bool from_foreign_page(const Request& request);

/// Whether a request was addressed to this machine itself: localhost, an address of loopback, or
/// `own_name`.  A page that has its own name resolve to loopback (DNS rebinding) counts as of one
/// origin with the coordinator, and only the name tells it.
bool names_this_machine(const Request& request, const std::string& own_name);

}  // namespace headsplit::coordinator
