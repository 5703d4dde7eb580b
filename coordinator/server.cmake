# The coordinator program: sockets, metrics, and the service between them and the pure half.
headsplit_library(headsplit_server
  SOURCES agent_session.cc event_session.cc http.cc http_session.cc page_events.cc page_routes.cc
          metrics/scrape_routes.cc origin.cc rate.cc routes.cc run_coordinator.cc server.cc service.cc service_actions.cc
  LIBRARIES headsplit_coordinator headsplit_tls headsplit_web)

headsplit_program(headsplit-coordinator
  SOURCES main.cc
  LIBRARIES headsplit_server CLI11::CLI11)

# A row is allocated by one thread and freed by another, which glibc's allocator takes a third of the
# coordinator's time for (docs/reliability.md).  Static: nothing more to install where it runs.
if(HEADSPLIT_TCMALLOC AND NOT HEADSPLIT_SANITIZE)
  target_link_libraries(headsplit-coordinator PRIVATE ${HEADSPLIT_TCMALLOC})
endif()
