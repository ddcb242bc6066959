# cmake --install and cpack install the programs with their data beside them, the loader of bundles
# as the CMake package evo_tune, manual pages, and completion for bash and zsh. Installed files
# contain no absolute paths.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Programs look for their data in ../share/evo-tune; in a build folder, it links to the source tree.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share)
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/share/evo-tune SYMBOLIC)

set(programs evo_elite evo_export evo_init evo_judge evo_predict evo_ptx_run evo_record evo_replay evo_report evo_tune)
install(TARGETS ${programs} evo_worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY kernel_templates search_spaces DESTINATION ${CMAKE_INSTALL_DATADIR}/evo-tune)

# The loader of bundles.
add_library(evo_tune_loader INTERFACE)
target_compile_features(evo_tune_loader INTERFACE cxx_std_17)
target_link_libraries(evo_tune_loader INTERFACE ${CMAKE_DL_LIBS})
target_include_directories(evo_tune_loader INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tools/loader>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(evo_tune_loader PROPERTIES EXPORT_NAME evo_tune)
install(DIRECTORY tools/loader/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(TARGETS evo_tune_loader EXPORT evo_tune_targets)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/evo_tune)
install(EXPORT evo_tune_targets NAMESPACE evo_tune:: FILE evo_tuneConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/evo_tuneConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/evo_tuneConfigVersion.cmake DESTINATION ${package})

# A manual page consists of the output of --help, and of examples, environment variables and files
# from man/.
set(pages "")
foreach(target ${programs})
  string(REPLACE "_" "-" name ${target})
  set(page ${CMAKE_BINARY_DIR}/man/${name}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DNAME=${name}
            -DVERSION=${PROJECT_VERSION} -DOUTPUT=${page}
            -P ${PROJECT_SOURCE_DIR}/cmake/install/ManualPage.cmake
    DEPENDS ${target} cmake/install/ManualPage.cmake cmake/install/man/${name}.txt
            cmake/install/man/environment.txt
    COMMENT "Writing ${name}.1")
  list(APPEND pages ${page})
endforeach()
add_custom_target(manual_pages ALL DEPENDS ${pages})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# bash-completion looks for a file with the program's name.
foreach(target ${programs})
  string(REPLACE "_" "-" name ${target})
  install(FILES cmake/install/evo-tune.bash RENAME ${name}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endforeach()
install(FILES cmake/install/_evo-tune
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# A wheel contains the programs as scripts, their data in share/, and the libraries whose versions
# differ between distributions.
if(SKBUILD)
  add_dependencies(wheel ${programs} evo_worker manual_pages)
  set(share ${SKBUILD_DATA_DIR}/share)
  set_target_properties(${programs} evo_worker PROPERTIES
    INSTALL_RPATH "$ORIGIN/../share/evo-tune/lib")
  install(TARGETS ${programs} evo_worker COMPONENT python RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
  foreach(library spdlog::spdlog fmt::fmt)
    install(PROGRAMS $<TARGET_FILE:${library}> RENAME $<TARGET_SONAME_FILE_NAME:${library}>
            COMPONENT python DESTINATION ${share}/evo-tune/lib)
  endforeach()
  install(DIRECTORY kernel_templates search_spaces COMPONENT python DESTINATION ${share}/evo-tune)
  install(DIRECTORY tools/loader/ COMPONENT python DESTINATION ${share}/evo-tune/include
          FILES_MATCHING PATTERN *.hpp)
  install(FILES ${pages} COMPONENT python DESTINATION ${share}/man/man1)
  foreach(target ${programs})
    string(REPLACE "_" "-" name ${target})
    install(FILES cmake/install/evo-tune.bash RENAME ${name} COMPONENT python
            DESTINATION ${share}/bash-completion/completions)
  endforeach()
  install(FILES cmake/install/_evo-tune COMPONENT python DESTINATION ${share}/zsh/site-functions)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME evo-tune)
set(CPACK_PACKAGE_CONTACT "the authors of evo-tune <evo-tune@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Evolutionary autotuner for CUDA kernels")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Programs open NVRTC and CUDA's headers at run time, so dpkg-shlibdeps does not find them. They may
# come from any source, so the package only recommends NVIDIA's packages or Debian's toolkit.
foreach(part nvrtc-dev cudart-dev crt)
  string(APPEND cuda_packages "${comma}cuda-${part}-13-0 | cuda-${part}-12-9 | cuda-${part}-12-8 "
         "| cuda-${part}-12-6 | nvidia-cuda-toolkit (>= 12.4)")
  set(comma ", ")
endforeach()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "${cuda_packages}")
set(CPACK_PACKAGE_DESCRIPTION
    "Needs NVRTC and the headers of CUDA 12.4 or later at run time. A toolkit that EVO_NVRTC,
CUDA_HOME or CUDA_PATH names comes first; evo-tune doctor shows the one in use.
A GPU and its driver are optional.")
include(CPack)
