#include "core/json.h"

namespace headsplit {

Result<json::value> parse_json(std::string_view text) {
  // Depth is bounded so that hostile input cannot exhaust the stack.
  json::parse_options options;
  options.max_depth = 64;
  boost::system::error_code error;
  json::stream_parser parser({}, options);
  // One block for the whole tree, which lives as long as it: a row has a hundred members.
  parser.reset(json::make_shared_resource<json::monotonic_resource>());
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (!error) parser.finish(error);
  if (error) {
    return fail(ErrorKind::protocol, "not JSON at byte ", used, ": ", error.message());
  }
  return parser.release();
}

}  // namespace headsplit
