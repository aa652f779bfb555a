# What `cmake --install` puts where, beside what tools/ and sampler/agent/ install themselves.
if(EXISTS ${PROJECT_SOURCE_DIR}/sampler/include/wick.h)
  install(FILES sampler/include/wick.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(cmake/wick.pc.in wick.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wick.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
endif()
