#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"

namespace headsplit {

/// A shared library loaded at run time, so that programs start where it does not exist.  It stays
/// mapped until the process ends: CUPTI, cuBLAS and OpenMP run-times keep exit handlers and threads
/// that do not survive being unloaded.
class DynamicLibrary {
 public:
  /// Open the first of `names` that loads.  Fails: io, with what the loader said of the last name
  /// that exists, or of the first one.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names);

  /// The name that loaded.
  const std::string& name() const { return name_; }

  /// Address of a symbol, or nullptr.
  void* find(const char* symbol) const;

  /// Set `function` to the symbol's address.  Fails: io (no such symbol in this library).
  template <class Function>
  Result<void> bind(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(find(symbol));
    if (function == nullptr) return missing(symbol);
    return {};
  }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  DynamicLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  Error missing(const char* symbol) const;

  std::string name_;
  std::unique_ptr<void, Close> handle_;
};

}  // namespace headsplit
