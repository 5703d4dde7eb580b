# Every library comes from Debian 12; `./dev setup` installs them.
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(fmt REQUIRED)
# The coordinator's allocator; without it, glibc's.
find_library(HEADSPLIT_TCMALLOC NAMES libtcmalloc_minimal.a)

# spdlog and fmt header-only: the compiled ones tie the binaries to one Debian release.
add_library(headsplit_spdlog INTERFACE)
target_compile_definitions(headsplit_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

add_library(headsplit_boost INTERFACE)
target_link_libraries(headsplit_boost INTERFACE Boost::json Boost::url Threads::Threads)
# One version of Asio's API; no deprecated parts.
target_compile_definitions(headsplit_boost INTERFACE BOOST_ASIO_NO_DEPRECATED)
