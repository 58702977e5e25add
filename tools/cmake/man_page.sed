# What lowdown leaves out: the tables need tbl, lines of cells are not stretched, no word of an interface is
# cut, and literals are bold as in other pages.
1i\
'\\" t
/^\.TH/a\
.ad l\
.nh
s/\\fC/\\fB/g
