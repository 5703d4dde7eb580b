#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/result.h"

/// The one mapping between our values and JSON.  A struct takes part by listing its members once
/// with BOOST_DESCRIBE_STRUCT, an enum with BOOST_DESCRIBE_ENUM; nothing else names a field again.
namespace headsplit {

namespace json = boost::json;
namespace describe = boost::describe;

template <class T>
concept DescribedStruct = describe::has_describe_members<T>::value && !std::is_enum_v<T>;
template <class T>
concept DescribedEnum = describe::has_describe_enumerators<T>::value && std::is_enum_v<T>;

template <DescribedEnum E>
std::string enum_name(E value) {
  return describe::enum_to_string(value, "?");
}

template <DescribedEnum E>
std::string enum_names() {
  std::string names;
  boost::mp11::mp_for_each<describe::describe_enumerators<E>>([&](auto enumerator) {
    names += (names.empty() ? "" : ", ") + std::string(enumerator.name);
  });
  return names;
}

template <DescribedEnum E>
Result<E> enum_from_name(const std::string& name) {
  E value{};
  if (describe::enum_from_string(name.c_str(), value)) return value;
  return fail(ErrorKind::config, "'", name, "' is not one of: ", enum_names<E>());
}

template <class T>
json::value to_json(const T& value);

namespace detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <DescribedStruct T>
json::value object_of(const T& value) {
  json::object object;
  using Members = describe::describe_members<T, describe::mod_public | describe::mod_inherited>;
  boost::mp11::mp_for_each<Members>(
      [&](auto member) { object[member.name] = to_json(value.*member.pointer); });
  return object;
}

}  // namespace detail

/// JSON of a value.  Absent optionals and non-finite numbers become null, never 0.
template <class T>
json::value to_json(const T& value) {
  if constexpr (std::is_same_v<T, json::value>) {
    return value;
  } else if constexpr (std::is_same_v<T, json::object> || std::is_same_v<T, json::array>) {
    return json::value(value);
  } else if constexpr (detail::IsOptional<T>::value) {
    return value ? to_json(*value) : json::value(nullptr);
  } else if constexpr (detail::IsVector<T>::value) {
    json::array array;
    for (const auto& item : value) array.push_back(to_json(item));
    return array;
  } else if constexpr (DescribedEnum<T>) {
    return json::value(enum_name(value));
  } else if constexpr (DescribedStruct<T>) {
    return detail::object_of(value);
  } else if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? json::value(static_cast<double>(value)) : json::value(nullptr);
  } else if constexpr (std::same_as<T, bool>) {
    return json::value(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return json::value(static_cast<std::uint64_t>(value));
  } else if constexpr (std::signed_integral<T>) {
    return json::value(static_cast<std::int64_t>(value));
  } else {
    return json::value(std::string(value));
  }
}

/// A value read back.  Unknown keys are ignored and missing keys keep the default, so that
/// neighbouring versions understand each other; a wrong type or range is an error that names the
/// path of the field.
template <class T>
Result<T> from_json(const json::value& source, const std::string& path = "");

namespace detail {

inline Error wrong_type(const std::string& path, std::string_view wanted) {
  return fail(ErrorKind::protocol, path.empty() ? "value" : path, ": expected ", wanted);
}

/// A part of a larger value.  Writing down where it stands costs more than reading it, so that is
/// done for errors only.  path_of(): its path.
template <class T, class PathOf>
Result<T> part_from(const json::value& source, const PathOf& path_of) {
  auto part = from_json<T>(source);
  if (part) return part;
  return from_json<T>(source, path_of());
}

template <class T>
Result<T> integer_from(const json::value& source, const std::string& path) {
  if (source.is_int64() && std::in_range<T>(source.get_int64())) {
    return static_cast<T>(source.get_int64());
  }
  if (source.is_uint64() && std::in_range<T>(source.get_uint64())) {
    return static_cast<T>(source.get_uint64());
  }
  return wrong_type(path, "an integer in range");
}

template <class T>
Result<T> struct_from(const json::value& source, const std::string& path) {
  if (!source.is_object()) return wrong_type(path, "an object");
  T value{};
  std::optional<Error> error;
  using Members = describe::describe_members<T, describe::mod_public | describe::mod_inherited>;
  boost::mp11::mp_for_each<Members>([&](auto member) {
    const json::value* found = source.get_object().if_contains(member.name);
    if (error || found == nullptr) return;
    using Field = std::remove_reference_t<decltype(value.*member.pointer)>;
    auto field = part_from<Field>(
        *found, [&] { return path.empty() ? member.name : path + "." + member.name; });
    if (field) {
      value.*member.pointer = std::move(field).value();
    } else {
      error = field.error();
    }
  });
  if (error) return *error;
  return value;
}

template <class T>
Result<T> vector_from(const json::value& source, const std::string& path) {
  if (!source.is_array()) return wrong_type(path, "an array");
  T items;
  for (const auto& item : source.get_array()) {
    const auto path_of = [&] { return str(path, "[", items.size(), "]"); };
    items.push_back(TRY(part_from<typename T::value_type>(item, path_of)));
  }
  return items;
}

template <class T>
Result<T> enum_from(const json::value& source, const std::string& path) {
  if (!source.is_string()) return wrong_type(path, "one of: " + enum_names<T>());
  auto value = enum_from_name<T>(std::string(source.get_string()));
  if (!value) return within_context(path, value.error());
  return value;
}

}  // namespace detail

template <class T>
Result<T> from_json(const json::value& source, const std::string& path) {
  if constexpr (std::is_same_v<T, json::value>) {
    return source;
  } else if constexpr (std::is_same_v<T, json::object>) {
    if (!source.is_object()) return detail::wrong_type(path, "an object");
    return source.get_object();
  } else if constexpr (detail::IsOptional<T>::value) {
    if (source.is_null()) return T{};
    return T{TRY(from_json<typename T::value_type>(source, path))};
  } else if constexpr (detail::IsVector<T>::value) {
    return detail::vector_from<T>(source, path);
  } else if constexpr (DescribedEnum<T>) {
    return detail::enum_from<T>(source, path);
  } else if constexpr (DescribedStruct<T>) {
    return detail::struct_from<T>(source, path);
  } else if constexpr (std::same_as<T, bool>) {
    if (!source.is_bool()) return detail::wrong_type(path, "true or false");
    return source.get_bool();
  } else if constexpr (std::floating_point<T>) {
    if (source.is_null()) return std::numeric_limits<T>::quiet_NaN();
    if (!source.is_number()) return detail::wrong_type(path, "a number");
    return static_cast<T>(source.to_number<double>());
  } else if constexpr (std::integral<T>) {
    return detail::integer_from<T>(source, path);
  } else {
    static_assert(std::is_same_v<T, std::string>, "no JSON mapping for this type");
    if (!source.is_string()) return detail::wrong_type(path, "a string");
    return std::string(source.get_string());
  }
}

/// Parsed text, or an error that says where it stops being JSON.
Result<json::value> parse_json(std::string_view text);

/// One line of JSON with its keys in order of declaration: equal values give equal text.
template <class T>
std::string json_text(const T& value) {
  return json::serialize(to_json(value));
}

/// A value from JSON text.
template <class T>
Result<T> value_from_text(std::string_view text) {
  return from_json<T>(TRY(parse_json(text)));
}

}  // namespace headsplit

/// For large structs that many files use: the mapping is compiled once, in the struct's own .cc
/// (a row costs the compiler 4 s).  Both at namespace scope of headsplit.
#define HEADSPLIT_JSON_ELSEWHERE(Type)                    \
  extern template json::value to_json<Type>(const Type&); \
  extern template Result<Type> from_json<Type>(const json::value&, const std::string&);
#define HEADSPLIT_JSON_HERE(Type)                  \
  template json::value to_json<Type>(const Type&); \
  template Result<Type> from_json<Type>(const json::value&, const std::string&);
