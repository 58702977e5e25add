#!/bin/sh
# A report as a browser without a network and without a screen shows it, light and dark, wide and narrow. A script that
# only this test adds measures it. Would catch: labels that lie on each other or reach out of a plot, a page wider than
# the window, text in the colour of its paper, a fetch, plots that are not drawn. Skipped without Chromium (set
# `browser` of tools/packages.txt). Usage: report_browser.sh CAUSEWAY PLOT_TEST
set -eu
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "report_browser: skipped: no chromium is installed (tools/install-packages browser)"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "report_browser: $1" >&2
  tail -n 30 "$work/said" >&2
  exit 1
}
timeout 100 "$1" bench --quick --sizes 8-4MiB --sweep put,allreduce --scale 2,4 --report "$work" >"$work/said" 2>&1 || fail "status $?"
PLOT_DIR=$work "$2" >"$work/said" || fail "plots that are hard to draw"
cat >"$work/measure" <<'END'
<pre id="found"></pre><script>
const found = [], say = (text) => found.push(text);
document.querySelectorAll('svg').forEach((svg) => {
  const box = svg.viewBox.baseVal, name = svg.getAttribute('aria-label');
  const texts = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBBox()]);
  texts.forEach(([a, p], i) => {
    if (p.x < 0 || p.y < 0 || p.x + p.width > box.width || p.y + p.height > box.height) say(`${name}: ${a} reaches out`);
    texts.slice(i + 1).forEach(([b, q]) => {
      if (p.x + p.width > q.x && q.x + q.width > p.x && p.y + p.height > q.y + 1 && q.y + q.height > p.y + 1)
        say(`${name}: ${a} lies on ${b}`);
    });
  });
  const ink = getComputedStyle(svg.querySelector('text')).fill;
  if (ink === getComputedStyle(document.body).backgroundColor) say(`${name}: text without contrast`);
});
if (document.documentElement.scrollWidth > innerWidth) say(`wider than the window: ${document.documentElement.scrollWidth}`);
if (performance.getEntriesByType('resource').length) say('something was fetched');
say(`plots ${document.querySelectorAll('svg').length} paper ${getComputedStyle(document.body).backgroundColor}`);
document.getElementById('found').textContent = found.join('\n') + '\n';
</script>
END
cat "$work"/index.html "$work"/*.svg "$work/measure" >"$work/page.html"
# shows WIDTH PAPER [OPTION...]
shows() {
  width=$1 paper=$2
  shift 2
  timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --proxy-server=127.0.0.1:9 --window-size="$width",2000 "$@" --dump-dom "file://$work/page.html" 2>"$work/log" |
    sed -n '/<pre id="found">/,/<\/pre>/ s/<[^>]*>//gp' >"$work/said" || fail "the browser ended with status $?"
  [ "$(cat "$work/said")" = "plots 13 paper $paper" ] || fail "$width pixels, paper $paper"
}
shows 1300 'rgb(255, 255, 255)'
shows 500 'rgb(255, 255, 255)'
shows 1300 'rgb(13, 17, 23)' --blink-settings=preferredColorScheme=0
timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size=1300,2000 \
  --screenshot="$work/page.png" "file://$work/index.html" 2>"$work/log" || fail "no picture"
[ "$(wc -c <"$work/page.png")" -gt 50000 ] || fail "an empty picture"
