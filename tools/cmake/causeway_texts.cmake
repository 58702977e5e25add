# The installed texts: the normative ones, the README and the guide to host files with links that hold in the
# installed tree, and manual pages of sections 5 and 7 where lowdown is found.
set(texts ${CMAKE_BINARY_DIR}/texts)
set(link_rules ${CMAKE_CURRENT_LIST_DIR}/installed_text.sed)
set(page_rules ${CMAKE_CURRENT_LIST_DIR}/man_page.sed)
set(page_text ${PROJECT_SOURCE_DIR}/tools/manual/text_page.awk)
causeway_wanted(MAN CAUSEWAY_MAN "manual pages of sections 5 and 7")
if(CAUSEWAY_MAN)
  find_program(CAUSEWAY_LOWDOWN lowdown DOC "Makes the manual pages of sections 5 and 7 from their texts")
  if(CAUSEWAY_LOWDOWN)
    causeway_has(MAN "${CAUSEWAY_LOWDOWN}")
  else()
    causeway_lacks(MAN "lowdown was not found (Debian: lowdown)")
    set(CAUSEWAY_MAN OFF)
  endif()
endif()
file(MAKE_DIRECTORY ${texts})
set(made "")

# NAME.md from a text of the source tree.
function(causeway_text name source)
  set(out ${texts}/${name}.md)
  add_custom_command(OUTPUT ${out}
    COMMAND sed -f ${link_rules} ${CMAKE_SOURCE_DIR}/${source} > ${out}
    DEPENDS ${CMAKE_SOURCE_DIR}/${source} ${link_rules} COMMENT "Writing ${name}.md" VERBATIM)
  install(FILES ${out} DESTINATION ${doc_dir} COMPONENT doc)
  set(made ${made} ${out} PARENT_SCOPE)
endfunction()

# NAME(SECTION) from a text, where such pages are made.
function(causeway_page name section source)
  if(NOT CAUSEWAY_MAN)
    return()
  endif()
  set(out ${texts}/${name}.${section})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C awk -v name=${name} -f ${page_text} ${source} > ${out}.md
    COMMAND ${CAUSEWAY_LOWDOWN} -s -Tman -M title=${name} -M section=${section}
      -M "source=Causeway ${PROJECT_VERSION}" -M date= -o ${out}.new ${out}.md
    COMMAND sed -f ${page_rules} ${out}.new > ${out}
    DEPENDS ${source} ${page_text} ${page_rules} COMMENT "Writing ${name}(${section})" VERBATIM)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr") # Debian has pages compressed
    add_custom_command(OUTPUT ${out}.gz COMMAND gzip -9nkf ${out} DEPENDS ${out} VERBATIM)
    set(out ${out}.gz)
  endif()
  install(FILES ${out} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT doc)
  set(made ${made} ${out} PARENT_SCOPE)
endfunction()

causeway_text(README README.md)
causeway_text(hosts core/launch/hosts.md)
causeway_text(gasnet-python core/api/bindings/python.md)
causeway_text(gasnet-fortran core/api/bindings/fortran.md)
foreach(room conduit-api memkind-api core/collective-api)
  get_filename_component(name ${room} NAME)
  causeway_text(${name} ${room}/README.md)
  string(REPLACE "-api" "" kind ${name})
  causeway_page(causeway-${kind} 7 ${texts}/${name}.md)
endforeach()
causeway_page(causeway-hosts 7 ${texts}/hosts.md)
causeway_page(causeway-guide 7 ${CMAKE_SOURCE_DIR}/configs/guide.md)
causeway_page(causeway.yaml 5 ${CMAKE_SOURCE_DIR}/configs/README.md)
add_custom_target(causeway_texts ALL DEPENDS ${made})
