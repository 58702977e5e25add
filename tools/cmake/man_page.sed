# What lowdown leaves out: lines of cells are not stretched, and no word of an interface is cut.
/^\.TH/a\
.ad l\
.nh
