#!/bin/bash
# Makes the texts that the wordfreq tests count. usage: make_texts.sh DIRECTORY
set -euo pipefail
export LC_ALL=C
mkdir -p "$1"
cd "$1"

# A real one, when this machine has it; else a piece of this script is real enough.
cat /usr/share/common-licenses/GPL-3 > real 2>/dev/null || cat "$0" > real

# Like a language: a vocabulary whose word k appears about 1/k as often as the first one,
# sentences with capitals, punctuation, apostrophes, line breaks and letters beyond ASCII.
awk 'BEGIN {
  srand(20260101)
  split("ba ce di fo gu ka le mi no pu ra se ti vo wu xa ye zi", part, " ")
  for (k = 1; k <= 20000; k++) {
    word = ""
    for (n = int(rand() * 4) + 1; n > 0; n--) word = word part[int(rand() * 18) + 1]
    vocabulary[k] = word
  }
  for (i = 0; i < 200000; i++) {
    word = vocabulary[int(exp(rand() * log(20000)))]
    if (i % 11 == 0) word = toupper(substr(word, 1, 1)) substr(word, 2)
    if (i % 97 == 0) word = word "\047s"
    if (i % 131 == 0) word = "\303\251" word "\303\274"
    end = i % 11 == 10 ? ".\n" : (i % 7 == 3 ? ", " : " ")
    printf "%s%s", word, end
  }
}' > natural

: > empty
printf '123 456,\n\t789 \303\251\n' > no-words
printf 'a B' > tiny

# One word from the first byte to the last, over every slice border; then one that is longer than
# any message between ordinary ones, twice, so that its pieces must be put together and counted.
head -c 300000 /dev/zero | tr '\0' 'q' > one-word
{
  printf 'before '
  head -c 3000000 /dev/zero | tr '\0' 'Z'
  printf ' between '
  head -c 3000000 /dev/zero | tr '\0' 'z'
  printf ' after before'
} > long-word

# Every byte value, zeros included.
gzip -n -c natural > binary
