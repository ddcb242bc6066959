# Writes OUTPUT, the manual page of PROGRAM: what its --help prints.
#   cmake -DPROGRAM=… -DNAME=… -DVERSION=… -DOUTPUT=… -P ManualPage.cmake
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "${PROGRAM}" "${NAME}" help "${help}")
string(REGEX MATCH "^[^\n]*" summary "${help}")
string(REGEX REPLACE "^${NAME}: *" "" summary "${summary}")
string(REGEX REPLACE "[,:(].*" "" summary "${summary}")
# A backslash, and a dot or quote at the start of a line, mean something to the formatter.
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "\n." "\n\\&." help "${help}")
string(REPLACE "\n'" "\n\\&'" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(TOUPPER ${NAME} upper)
file(WRITE ${OUTPUT} ".TH ${upper} 1 \"\" \"evo-tune ${VERSION}\"
.SH NAME
${NAME} \\- ${summary}
.SH DESCRIPTION
.nf
${help}
.fi
")
