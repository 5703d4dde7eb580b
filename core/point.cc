#include "core/point.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace headsplit {

HEADSPLIT_JSON_HERE(Point)

std::string content_id(const std::string& text) {
  const boost::uuids::name_generator_sha1 generator(boost::uuids::ns::oid());
  std::string hex;
  for (const char c : boost::uuids::to_string(generator(text))) {
    if (c != '-') hex += c;
  }
  return hex.substr(0, 16);
}

std::string point_id(const Point& point) {
  json::value content = to_json(point);
  // Points without them keep the ids that they had before there were any.
  if (point.message_bytes == 0) content.get_object().erase("message_bytes");
  if (point.fixed_splits == 0) content.get_object().erase("fixed_splits");
  if (point.top_k == 0) content.get_object().erase("top_k");
  return content_id(json::serialize(content));
}

std::string point_label(const Point& point) {
  if (point.message_bytes > 0) {
    return str(point.kernel, " ", layout_name(point.layout), " ", point.message_bytes, " bytes");
  }
  return str(point.kernel, " ", layout_name(point.layout), " B=", point.batch,
             " T=", point.query_tokens, " L=", point.context, " ", enum_name(point.kv_dtype),
             point.fixed_splits > 0 ? str(" splits=", point.fixed_splits) : std::string(),
             point.top_k > 0 ? str(" k=", point.top_k) : std::string());
}

}  // namespace headsplit
