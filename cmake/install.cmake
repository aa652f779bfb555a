# What `cmake --install` puts where; the agent's rule is its room's.
install(TARGETS wick wick-view wick-top RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 FILES_MATCHING PATTERN "*.5")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
install(FILES ${PROJECT_BINARY_DIR}/completions/wick
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completions/_wick
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/completions/wick.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
if(EXISTS ${PROJECT_SOURCE_DIR}/sampler/include/wick.h)
  install(DIRECTORY sampler/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "wick*.h*")
  configure_file(cmake/wick.pc.in wick.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wick.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
endif()
