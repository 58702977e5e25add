# What lowdown leaves out: the tables need tbl, lines of cells are not stretched (for groff from 1.23 on said by AD), no
# word of an interface is cut, and literals are bold as in other pages.
1i\
'\\" t\
.ds AD l
/^\.TH/a\
.ad l\
.nh
s/\\fC/\\fB/g
s/\\f(CR/\\fB/g
