# rules/*.pdll, compiled by mlir-pdll and embedded: SHIPPED_RULES is the C++ file that holds them.
find_program(MLIR_PDLL mlir-pdll HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
file(GLOB rule_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/rules/*.pdll)
list(REMOVE_ITEM rule_files rules/prelude.pdll)
set(compiled_rules)
foreach(file ${rule_files})
  get_filename_component(name ${file} NAME_WE)
  set(compiled ${CMAKE_CURRENT_BINARY_DIR}/${name}.pdl.mlir)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/with-prelude/${name}.pdll
       CONTENT "#include \"rules/prelude.pdll\"\n#include \"${file}\"\n")
  # Run in the source folder, so that locations are relative to it. mlir-pdll warns of every operator that has no ODS
  # file here; its own checks of them are those of Guard.cpp.
  add_custom_command(OUTPUT ${compiled} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND sh -c "'${MLIR_PDLL}' -x=mlir -I . '${CMAKE_CURRENT_BINARY_DIR}/with-prelude/${name}.pdll' -o '${compiled}' 2>'${compiled}.log' || { grep -A2 error: '${compiled}.log' >&2; false; }"
    DEPENDS ${CMAKE_SOURCE_DIR}/${file} ${CMAKE_SOURCE_DIR}/rules/prelude.pdll
            ${CMAKE_CURRENT_BINARY_DIR}/with-prelude/${name}.pdll
    COMMENT "Compiling ${file}" VERBATIM)
  list(APPEND compiled_rules ${compiled})
endforeach()
set(SHIPPED_RULES ${CMAKE_CURRENT_BINARY_DIR}/ShippedRules.cpp)
string(REPLACE ";" "," rule_list "${compiled_rules}")
add_custom_command(OUTPUT ${SHIPPED_RULES}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${SHIPPED_RULES} -DPRELUDE=${CMAKE_SOURCE_DIR}/rules/prelude.pdll
          -DFILES=${rule_list} -P ${CMAKE_CURRENT_SOURCE_DIR}/rules/EmbedRules.cmake
  DEPENDS ${compiled_rules} ${CMAKE_SOURCE_DIR}/rules/prelude.pdll ${CMAKE_CURRENT_SOURCE_DIR}/rules/EmbedRules.cmake
  VERBATIM)
