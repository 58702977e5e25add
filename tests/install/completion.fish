# A fish without a user's settings; the vendor's folder is read as an installed fish would.
source $TREE/share/fish/vendor_completions.d/causeway.fish
while read -l line
    printf '%s\t%s\n' "$line" (string join -- ' ' (complete -C "$line" | string replace -r '\t.*' ''))
end
