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

std::string point_id(const Point& point) { return content_id(json_text(point)); }

std::string point_label(const Point& point) {
  return str(point.kernel, " ", layout_name(point.layout), " B=", point.batch,
             " T=", point.query_tokens, " L=", point.context, " ", enum_name(point.kv_dtype));
}

}  // namespace headsplit
