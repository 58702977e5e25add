# From the prototypes in GASPI.h and GASPI_Ext.h:
#   PGASPI.h          every procedure with the prefix pgaspi_ (GASPI 17.1, 14.2)
#   gaspi_entries.h   the entries that they call, entry_*, in namespace causeway::gaspi
#   gaspi_forward.c   pgaspi_* that jump there, gaspi_* as weak names for them
# A prototype is what begins with `gaspi_return_t gaspi_` at the start of a line.
function(causeway_gaspi_entries out)
  set(include ${PROJECT_SOURCE_DIR}/core/include)
  set(warning "/* Generated from GASPI.h and GASPI_Ext.h. SPDX-License-Identifier: BSD-3-Clause */")
  set(plain "")  # takes macros away, which would stand for the functions that a profiler defines
  set(profile "${warning}\n/* Every procedure again with the prefix pgaspi_, for profilers that define"
              " the gaspi_ names\n * (GASPI 17.1, chapter 14.2), which are functions alone in sources with this"
              " header: with\n * GASPI_GPI2_SOURCE of the field's forms, without it of 17.1's. */\n#ifndef PGASPI_H\n#define PGASPI_H\n\n"
              "#include <GASPI.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n")
  set(entries "${warning}\n#ifndef CAUSEWAY_GASPI_ENTRIES_H\n#define CAUSEWAY_GASPI_ENTRIES_H\n\n"
              "#include <GASPI.h>\n\n#pragma GCC visibility push(hidden)\n"
              "#ifdef __cplusplus\nnamespace causeway::gaspi {\nextern \"C\" {\n#endif\n\n")
  # Fortran has no unsigned integers and passes ids from 128 on and ranks from 32,768 on with their
  # sign. gcc as the callee widens what it gets; clang relies on the caller having done it, for what
  # comes in registers (the first six arguments).
  set(forward "${warning}\n#include <PGASPI.h>\n#include <gaspi_entries.h>\n\n"
              "#ifdef __clang__\n#define WIDEN_AGAIN(argument) __asm__(\"\" : \"+r\"(argument))\n"
              "#else\n#define WIDEN_AGAIN(argument) ((void)0)\n#endif\n\n")
  string(JOIN "" profile ${profile})
  string(JOIN "" entries ${entries})
  string(JOIN "" forward ${forward})
  foreach(header GASPI.h GASPI_Ext.h)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${include}/${header})
    file(READ ${include}/${header} text)
    string(REGEX MATCHALL "\ngaspi_(return|string)_t gaspi_[a-z0-9_]+\\([^;{)]*\\)" found "${text}")
    foreach(prototype IN LISTS found)
      string(REGEX REPLACE "[ \n]+" " " prototype "${prototype}")
      string(REGEX MATCH "(gaspi_[a-z]+_t) gaspi_([a-z0-9_]+)\\((.*)\\)" ignored "${prototype}")
      set(type ${CMAKE_MATCH_1})
      set(name ${CMAKE_MATCH_2})
      set(parameters "${CMAKE_MATCH_3}")
      set(arguments "")
      set(widened "")
      if(NOT parameters STREQUAL "void")
        string(REPLACE "," ";" list "${parameters}")
        foreach(parameter IN LISTS list)
          string(REGEX MATCH "[a-zA-Z0-9_]+$" argument "${parameter}")
          list(APPEND arguments ${argument})
          list(LENGTH arguments position)
          if(position LESS_EQUAL 6 AND parameter MATCHES "gaspi_(rank_t|group_t|queue_id_t|segment_id_t|uchar) [a-z_]+$")
            string(APPEND widened "  WIDEN_AGAIN(${argument});\n")
          endif()
        endforeach()
        string(JOIN ", " arguments ${arguments})
      endif()
      string(APPEND profile "${type} pgaspi_${name}(${parameters});\n")
      string(APPEND plain "#undef gaspi_${name}\n")
      string(APPEND entries "${type} entry_${name}(${parameters});\n")
      string(APPEND forward
        "${type} pgaspi_${name}(${parameters}) {\n${widened}  return entry_${name}(${arguments});\n}\n"
        "extern __typeof(pgaspi_${name}) gaspi_${name} __attribute__((weak, alias(\"pgaspi_${name}\")));\n\n")
    endforeach()
  endforeach()
  string(APPEND profile
    "void pgaspi_printf(const char* format, ...);\n"
    "void pgaspi_printf_to(gaspi_rank_t rank, const char* format, ...);\n\n"
    "#ifdef __cplusplus\n}\n#endif\n\n${plain}\n#ifdef GASPI_GPI2_SOURCE\n")
  foreach(form state_vec_get_array time_ticks_cycles statistic_counter_get_long allreduce_user_counted)
    string(REGEX REPLACE "_[a-z]+$" "" name ${form})
    string(APPEND profile "#define gaspi_${name} gaspi_${form}\n#define pgaspi_${name} pgaspi_${form}\n")
  endforeach()
  string(APPEND profile "#endif\n\n#endif\n")
  string(APPEND entries
    "/* gaspi_printf and gaspi_printf_to with the text made. */\n"
    "void entry_print(const char* text);\n"
    "void entry_print_to(gaspi_rank_t rank, const char* text);\n\n"
    "#ifdef __cplusplus\n}\n}\n#endif\n#pragma GCC visibility pop\n\n#endif\n")
  file(CONFIGURE OUTPUT ${out}/PGASPI.h CONTENT "${profile}" @ONLY)
  file(CONFIGURE OUTPUT ${out}/gaspi_entries.h CONTENT "${entries}" @ONLY)
  file(CONFIGURE OUTPUT ${out}/gaspi_forward.c CONTENT "${forward}" @ONLY)
endfunction()
