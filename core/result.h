#pragma once

#include <boost/system/result.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace headsplit {

/// What went wrong, coarsely: callers branch on the kind, people read the message.
enum class ErrorKind { config, protocol, io, cuda, nccl, timeout, cancelled, mismatch };

/// An expected failure, passed as a value.  Each layer that adds something prefixes the message
/// with what it was doing ("sweep.yaml:3:9: axes.batch: ...").
struct Error {
  ErrorKind kind = ErrorKind::config;
  std::string message;

  bool operator==(const Error&) const = default;
};

/// Lets `Result::value()` throw when nobody looked at the error.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.message);
}

template <class T = void>
using Result = boost::system::result<T, Error>;

/// Text of all arguments, one after the other.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

template <class... Args>
Error fail(ErrorKind kind, const Args&... args) {
  return Error{kind, str(args...)};
}

/// The same error, with what the caller was doing put before it.
inline Error within_context(const std::string& doing, Error error) {
  error.message = doing + ": " + error.message;
  return error;
}

}  // namespace headsplit

/// Value of a `Result`, or return its error from the enclosing function (not in coroutines).  Only
/// first in braces: g++ 12 leaks the members that were made before one returns.
#define TRY(expression)                                      \
  __extension__({                                            \
    auto try_result_ = (expression);                         \
    if (!try_result_) return std::move(try_result_).error(); \
    std::move(try_result_).value();                          \
  })
