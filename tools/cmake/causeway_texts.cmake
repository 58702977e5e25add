# The installed texts: the normative ones, the README and the guide to host files with links that hold in the
# installed tree, and manual pages of the normative ones where lowdown is found.
set(texts ${CMAKE_BINARY_DIR}/texts)
set(link_rules ${CMAKE_CURRENT_LIST_DIR}/installed_text.sed)
set(page_rules ${CMAKE_CURRENT_LIST_DIR}/man_page.sed)
find_program(CAUSEWAY_LOWDOWN lowdown DOC "Makes the manual pages of section 7 from their texts")
if(NOT CAUSEWAY_LOWDOWN)
  message(STATUS "Manual pages: none, because lowdown is missing (Debian: lowdown)")
endif()
file(MAKE_DIRECTORY ${texts})
set(made "")

# NAME.md from a text of the source tree.
function(causeway_text name source)
  set(out ${texts}/${name}.md)
  add_custom_command(OUTPUT ${out}
    COMMAND sed -f ${link_rules} ${CMAKE_SOURCE_DIR}/${source} > ${out}
    DEPENDS ${CMAKE_SOURCE_DIR}/${source} ${link_rules} COMMENT "Writing ${name}.md" VERBATIM)
  install(FILES ${out} DESTINATION ${doc_dir})
  set(made ${made} ${out} PARENT_SCOPE)
endfunction()

# causeway-KIND(7) from KIND-api.md.
function(causeway_page kind)
  set(out ${texts}/causeway-${kind}.7)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CAUSEWAY_LOWDOWN} -s -Tman -M title=causeway-${kind} -M section=7
      -M "source=Causeway ${PROJECT_VERSION}" -M date= -o ${out}.new ${texts}/${kind}-api.md
    COMMAND sed -f ${page_rules} ${out}.new > ${out}
    DEPENDS ${texts}/${kind}-api.md ${page_rules} COMMENT "Writing causeway-${kind}(7)" VERBATIM)
  install(FILES ${out} DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
  set(made ${made} ${out} PARENT_SCOPE)
endfunction()

causeway_text(README README.md)
causeway_text(hosts core/launch/hosts.md)
causeway_text(gasnet-python core/api/bindings/python.md)
causeway_text(gasnet-fortran core/api/bindings/fortran.md)
foreach(room conduit-api memkind-api core/collective-api)
  get_filename_component(name ${room} NAME)
  causeway_text(${name} ${room}/README.md)
  if(CAUSEWAY_LOWDOWN)
    string(REPLACE "-api" "" kind ${name})
    causeway_page(${kind})
  endif()
endforeach()
add_custom_target(causeway_texts ALL DEPENDS ${made})
