# Writes OUTPUT, a C++ source with the revision being built, if the revision has changed.
#   cmake -DVERSION=… -DSOURCE_DIR=… -DTEMPLATE=… -DOUTPUT=… -P Revision.cmake
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(FULL_VERSION ${VERSION})
if(REVISION)
  set(FULL_VERSION ${VERSION}+g${REVISION})
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
