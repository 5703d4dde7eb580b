#include "core/lease.h"

namespace headsplit {

HEADSPLIT_JSON_HERE(Lease)

}  // namespace headsplit
