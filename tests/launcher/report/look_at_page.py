# SPDX-License-Identifier: BSD-3-Clause
"""Checks a page of mpiexec --report: look_at_page.py [--browser] FILE CHECK...

Checks: ranks=N, messages=LEAST.., collectives=LEAST.., error=CODE, ending=WORDS, unfinished=RANKS, cause=NAME,
place=WORDS, algorithms=A,B, nodes=N, oversubscribed=RANKS/CORES, folds=LEVEL,.., well, lost. They check the data in the
page. With --browser the page must also open in Chromium in light and dark mode without a console message, draw lanes
and an arrow, and handle its keys; --pictures FOLDER then saves screenshots, --seconds prints the time to open the page.
"""
import json
import re
import sys

import browser

PIXELS = """(() => {
  timeline.drawNow();
  const copy = document.createElement("canvas"), seen = {};   // the browser warns if the page's own canvas is read often
  copy.width = timeline.canvas.width;
  copy.height = timeline.canvas.height;
  const g = copy.getContext("2d", { willReadFrequently: true });
  g.drawImage(timeline.canvas, 0, 0);
  const data = g.getImageData(0, 0, timeline.canvas.width, timeline.canvas.height).data;
  const wanted = Object.fromEntries(["compute", "mpi", "wait", "never"].map(n => [n, colour(n)]));
  for (const [name, hex] of Object.entries(wanted)) {
    const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
    seen[name] = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) ++seen[name];
  }
  return seen;
})()"""

ARROWS = """(() => {
  let n = 0;
  const draw = timeline.drawArrow;
  timeline.drawArrow = function (...given) { ++n; return draw.apply(this, given); };
  const m = report.messages.find(m => m.from !== m.to);
  if (m) timeline.show(m.sent - 1000, Math.max(5000, 3 * (m.received - m.sent)));
  timeline.drawNow();
  timeline.drawArrow = draw;
  timeline.show(0, timeline.length);
  return n;
})()"""


def expect(truth, words):
    if not truth:
        sys.exit(f"the page lacks {words}")


def at_least(text, number, words):
    expect(number >= int(text.rstrip(".")), f"{text} {words}: there are {number}")


def check_sums(data):
    """Checks that the waiting times are equal in every list."""
    sums = {
        "ranks": sum(lane["waited"] for lane in data["lanes"]),
        "causes": sum(cause["time"] for cause in data["causes"]),
        "places": sum(wait["time"] for wait in data["waits"]),
        "calls": sum(call[4] for call in data["byCall"]),
        "lines": sum(call[4] for call in data["byLine"]),
    }
    expect(len(set(sums.values())) == 1, f"equal sums of waiting time: {sums}")


def check_shown_sums(page, data):
    """Checks that the page shows the same sums, with the cause of the longest time first."""
    waited = sum(cause["time"] for cause in data["causes"])
    if waited == 0:
        return
    for where in ("causes", "waits", "findings"):
        times = page.value(f"[...document.querySelectorAll('#{where} [data-time]')].map(e => Number(e.dataset.time))")
        expect(sum(times) == waited, f"times in #{where} whose sum is {waited}: {times}")
    largest = max(data["causes"], key=lambda cause: cause["time"])["name"]
    for where in ("#causes tr[data-time]", "#findings .finding"):
        first = page.value(f"document.querySelector('{where}').innerText")
        expect(first.startswith(largest), f"'{largest}' first in {where}: '{first}'")


def check_data(data, checks):
    check_sums(data)
    told = "\n".join(r["code"] + ": " + r["headline"] for r in data["reports"])
    for name, value in checks:
        if name == "ranks":
            expect(len(data["lanes"]) == int(value), f"{value} ranks")
        elif name == "messages":
            at_least(value, data["messageCount"], "messages")
        elif name == "collectives":
            at_least(value, sum(c["calls"] for c in data["collectiveSums"]), "collectives")
        elif name == "error":
            expect(value in told, f"the report {value}; it has '{told}'")
        elif name == "ending":
            expect(value in data["ending"], f"'{value}' in its ending '{data['ending']}'")
        elif name == "unfinished":
            expect(sum(bool(lane["shown"]) for lane in data["lanes"]) == int(value), f"{value} calls that never ended")
        elif name == "cause":
            expect(any(c["name"] == value and c["time"] > 0 for c in data["causes"]), f"the cause {value}")
        elif name == "place":
            expect(any(value in place for place in data["places"]), f"the place {value}: {data['places']}")
        elif name == "algorithms":
            known = {data["algorithms"][c["algorithm"]][0] for c in data["collectiveSums"]}
            expect(set(value.split(",")) <= known, f"the collectives {value}; it has {known}")
        elif name == "well":
            expect(not data["reports"] and not data["ending"] and data["exitCode"] == 0, "a successful end")
        elif name == "nodes":
            expect(len(data["machines"]) == int(value), f"{value} nodes")
            expect(sum(lane["clockError"] > 0 for lane in data["lanes"]) >= int(value) - 1, "errors of clocks")
        elif name == "oversubscribed":
            crowding = data["crowding"] or {}
            reported = f"{crowding.get('ranks')}/{crowding.get('cores')}"
            expect(reported == value, f"a notice of {value} ranks and cores; it has {reported}")
        elif name == "folds":
            expect(len(data["machines"]) > 0, "machines by which to fold")   # check_folding checks the levels
        elif name == "lost":
            expect(all(lane["lost"] > 0 for lane in data["lanes"]), "lanes whose begin was overwritten")
        else:
            sys.exit(f"there is no check {name}")


def check_first_screen(page, data):
    """Checks that the main elements are visible without scrolling, and complete."""
    if data["exitCode"] == 0 and not data["reports"]:
        below = page.value("timeline.box.getBoundingClientRect().top + 80 - innerHeight")   # the axis and some lanes
        expect(below < 0, f"the timeline in the first screen: it begins {below} pixels too low")
    parts = page.value("element('parts').innerText")
    for words in ("computation", "in MPI", "waiting"):
        expect(re.search(words + r" [\d.]+ %", parts), f"'{words}' with its share: '{parts}'")
    cut = page.value("[...document.querySelectorAll('#shares, #shares *')].filter(e => e.innerText && "
                     "getComputedStyle(e).display !== 'inline' && e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)")
    expect(not cut, f"whole labels: '{cut}' is cut off")
    if data["crowding"]:
        first = page.value("element('glance').querySelector('h3').innerText")
        expect(re.fullmatch(r"\d+ ranks share \d+ cores?( of \d+ nodes)?: waiting is mostly waiting for a core", first),
               f"the notice that ranks share cores: '{first}'")


def check_folding(page, data, levels):
    """Checks that ranks of a node, socket or cache fold into one row with the same colours, and unfold by a click."""
    known = page.value("timeline.levels.map(level => level.name)")
    expect(levels is None or known == levels, f"the ways to fold {levels}: {known}")
    ranks = len(data["lanes"])
    for number, level in enumerate(known):
        page.key("f")
        rows = page.value("timeline.rows.length")
        expect(rows < ranks, f"fewer rows than ranks by {level}: {rows}")
        expect(page.value("timeline.level") == number, f"the level {level} by its key")
        shown = page.value(PIXELS)
        expect(shown["compute"] + shown["wait"] > 100, f"rows that are drawn by {level}: {shown}")
        group = page.value("timeline.rows.findIndex(row => row.lanes.length > 1)")
        size = page.value(f"timeline.rows[{group}].lanes.length")
        page.value("timeline.box.scrollIntoView()")
        x, y = page.value("(() => { const box = timeline.canvas.getBoundingClientRect();"
                          f"return [box.x + box.width / 2, box.y + timeline.y({group}) + timeline.row / 2]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        expect(page.value("timeline.rows.length") == rows - 1 + size, f"the group's {size} ranks after a click")
    if known:
        page.key("f")
        expect(page.value("timeline.rows.length") == ranks, "a row for each rank again")


def check_page(page, file, data, scheme, levels, pictures):
    page.prefer(scheme)
    seconds = page.open(file)
    text = page.value("document.body.innerText")
    check_first_screen(page, data)
    check_folding(page, data, levels)
    for words in ("What went wrong", "Timeline", "Who waited, and why", *(r["headline"] for r in data["reports"])):
        expect(words in text, f"the words '{words}'")
    expect(page.value("document.documentElement.classList.contains('dark')") == (scheme == "dark"), f"{scheme} colours")
    check_shown_sums(page, data)
    seen = page.value(PIXELS)
    expect(seen["compute"] > 100, f"lanes that are drawn: {seen}")
    if any(lane["shown"] for lane in data["lanes"]):
        expect(seen["never"] > 50, f"calls that never ended: {seen}")
    if data["pairs"]:
        expect(page.value(ARROWS) > 0, "an arrow")
    page.value("timeline.box.focus()")
    before = page.value("timeline.to - timeline.from")
    page.key("+")
    expect(page.value("timeline.to - timeline.from") < before, "keys that zoom")
    for key in ("w", "n", "ArrowDown", "l", "s", "t", "t"):
        page.key(key)
    if page.value("longestWaits().length") > 0:
        expect("Rank" in page.value("element('details').innerText"), "details of a call")
    if pictures:
        page.picture(f"{pictures}/{scheme}.png", whole=True)
    expect(not page.diagnostics, f"no console message: {page.diagnostics}")
    return seconds


def main(*words):
    with_browser = "--browser" in words
    file, *words = (word for word in words if word != "--browser")
    pictures = None
    if "--pictures" in words:
        at = words.index("--pictures")
        pictures, words = words[at + 1], words[:at] + words[at + 2:]
    with open(file, encoding="utf-8") as page:
        text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read(), re.S).group(1)
    data = json.loads(text)
    check_data(data, [word.partition("=")[::2] for word in words if word != "--seconds"])
    if not with_browser:
        return
    levels = next((word.partition("=")[2].split(",") for word in words if word.startswith("folds=")), None)
    page = browser.Browser()
    try:
        seconds = [check_page(page, file, data, scheme, levels, pictures) for scheme in ("light", "dark")]
    finally:
        page.close()
    if "--seconds" in words:
        print(f"{max(seconds):.2f} s")


main(*sys.argv[1:])
