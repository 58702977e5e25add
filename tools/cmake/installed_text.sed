# A text of the source tree as it is installed in share/doc/causeway: links lead to what is installed,
# and those to anything else become plain words.
s,core/collective-api/README\.md,collective-api.md,g
s,conduit-api/README\.md,conduit-api.md,g
s,memkind-api/README\.md,memkind-api.md,g
s,plugins/example,share/causeway/example,g
s,configs/README\.md,share/causeway/configs/README.md,g
s,configs/guide\.md,share/causeway/configs/guide.md,g
s,\([^/]\)configs/sites,\1share/causeway/configs/sites,g
s,\[`core/launch/hosts\.md`\](core/launch/hosts\.md),[`hosts.md`](hosts.md),g
s,](\(\.\./gaspi\|core/api/gaspi\)/fortran),](share/causeway/fortran),g
s,`core/api/gaspi/fortran`,`share/causeway/fortran`,g
s,](core/api/bindings/\(python\|fortran\)\.md),](gasnet-\1.md),g
s,](conduit-api),](conduit-api.md),g
s,](memkind-api),](memkind-api.md),g
s,](configs),](share/causeway/configs),g
s,\[\([^]]*\)\](\(core\|plugins\|tests\|tools\)[^)]*),\1,g
s,; the launcher decides by the table in \[`ends\.md`\](ends\.md),,
s, as in \[`README\.md`\](README\.md)\, "Processes",,
/room itself is described in \[`README\.md`\]/d
s,](share/causeway/,](../../causeway/,g
