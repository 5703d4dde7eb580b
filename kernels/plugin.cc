#include "kernels/plugin.h"

#include <list>
#include <mutex>

#include "core/dynamic_library.h"
#include "kernels/plugin_kernel.h"

namespace headsplit::kernels {
namespace {

namespace fs = std::filesystem;

Result<void> check_kernel(const headsplit_kernel* kernel, const std::string& file) {
  if (kernel == nullptr) return fail(ErrorKind::config, file, ": describes no kernel");
  if (kernel->abi_version != HEADSPLIT_KERNEL_ABI) {
    return fail(ErrorKind::config, file, ": built for version ", kernel->abi_version,
                " of headsplit_kernel.h; this program has version ", HEADSPLIT_KERNEL_ABI);
  }
  if (kernel->struct_bytes < sizeof(headsplit_kernel)) {
    return fail(ErrorKind::config, file, ": its headsplit_kernel has ", kernel->struct_bytes,
                " bytes instead of ", sizeof(headsplit_kernel));
  }
  const std::pair<const char*, bool> members[] = {
      {"name", kernel->name != nullptr},           {"summary", kernel->summary != nullptr},
      {"operation", kernel->operation != nullptr}, {"supports", kernel->supports != nullptr},
      {"prepare", kernel->prepare != nullptr},     {"launch", kernel->launch != nullptr},
      {"destroy", kernel->destroy != nullptr}};
  for (const auto& [name, there] : members) {
    if (!there) return fail(ErrorKind::config, file, ": its headsplit_kernel has no ", name);
  }
  if (std::string_view(kernel->operation) != "mla_dense") {
    return fail(ErrorKind::config, file, ": unknown operation '", kernel->operation,
                "'; there is: mla_dense");
  }
  const auto one_of_two = [](std::int32_t value) { return value == 0 || value == 1; };
  if (!one_of_two(kernel->backend) || !one_of_two(kernel->output)) {
    return fail(ErrorKind::config, file, ": backend ", kernel->backend, " or output ",
                kernel->output, " is neither 0 nor 1");
  }
  return {};
}

}  // namespace

Result<KernelEntry> load_plugin(const fs::path& file) {
  const auto library = DynamicLibrary::open({file.string()});
  if (!library) return fail(ErrorKind::config, library.error().message);
  const headsplit_kernel* (*describe)() = nullptr;
  if (const auto bound = library->bind("headsplit_kernel_describe", describe); !bound) {
    return fail(ErrorKind::config, bound.error().message, ": not a kernel plug-in");
  }
  const headsplit_kernel* described = nullptr;
  TRY(call_plugin(ErrorKind::config, file.string() + ": headsplit_kernel_describe",
                  [&](char*, std::size_t) {
                    described = describe();
                    return 0;
                  }));
  TRY(check_kernel(described, file.string()));
  const headsplit_kernel kernel = *described;
  return KernelEntry{
      .name = std::string(kPluginPrefix) + file.string(),
      .backend = kernel.backend == HEADSPLIT_CUDA ? Backend::cuda : Backend::cpu,
      .summary = kernel.summary,
      .supports = [kernel](const RankProblem& shape) -> Result<void> {
        TRY(check_family(kernel.name, Family::mla_dense, shape));
        const headsplit_shape asked = plugin_shape(shape, Problem{}.page_tokens);
        return call_plugin(ErrorKind::config, kernel.name, [&](char* why, std::size_t bytes) {
          return kernel.supports(&asked, why, bytes);
        });
      },
      .bind = [kernel](
                  const Problem& problem,
                  const BindOptions& options) { return bind_plugin(kernel, problem, options); }};
}

Result<const KernelEntry*> find_plugin(const std::string& name, Backend backend) {
  // Libraries are never unloaded, so their entries may live as long as the process.
  static std::mutex mutex;
  static std::list<KernelEntry> loaded;
  const fs::path file = TRY(plugin_file(name.substr(kPluginPrefix.size()), plugin_folders()));
  const std::string full_name = std::string(kPluginPrefix) + file.string();
  const std::lock_guard lock(mutex);
  const KernelEntry* found = nullptr;
  for (const KernelEntry& entry : loaded) {
    if (entry.name == full_name) found = &entry;
  }
  if (found == nullptr) found = &loaded.emplace_back(TRY(load_plugin(file)));
  if (found->backend == backend) return found;
  return fail(ErrorKind::config, name, " is a plug-in for ", enum_name(found->backend),
              ", and this device is ", enum_name(backend));
}

}  // namespace headsplit::kernels
