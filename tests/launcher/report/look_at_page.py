# SPDX-License-Identifier: BSD-3-Clause
"""Checks a page of mpiexec --report: look_at_page.py [--browser] FILE CHECK...

Checks: ranks=N, messages=LEAST.., collectives=LEAST.., error=CODE, ending=WORDS, unfinished=RANKS, cause=NAME,
place=WORDS, algorithms=A,B, nodes=N, oversubscribed=RANKS/CORES, folds=LEVEL,.., well, lost. They check the data in the
page. With --browser the page must also open in Chromium in light and dark mode without a console message, draw lanes
and an arrow, handle its keys, fit narrow windows and paper, and be usable with the keyboard alone; --pictures FOLDER
then saves screenshots, --seconds prints the time to open the page.
"""
import json
import re
import subprocess
import sys
import tempfile

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


WIDER = """[...document.querySelectorAll("html, body *")].filter(e => e.clientWidth > 0 &&
  e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline").map(e =>
  `${e.tagName} ${e.id} ${e.className} ${e.innerText}`.slice(0, 80))"""

# cells in which a line may end between "rank" and its number
BREAKABLE = """[...document.querySelectorAll("#waits td, #collective-table td, .report td:first-child")]
  .map(e => e.innerText).filter(text => /ranks? \\d/.test(text))"""

# WCAG 2.1: the contrast of each text with its background, where it is below 4.5
CONTRAST = """(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const luminance = rgb => rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const back = numbers(getComputedStyle(e).backgroundColor);
      if (back.length === 3 || back[3] === 1) return back;
    }
    return [255, 255, 255];
  };
  const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  const shown = e => own(e) && e.checkVisibility() && !e.closest("svg, .picked");
  return [...document.querySelectorAll("body *")].filter(shown).map(e => {
    const [a, b] = [numbers(getComputedStyle(e).color), ground(e)].map(luminance);
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.innerText.slice(0, 40)];
  }).filter(([contrast]) => contrast < 4.5);
})()"""

FOCUS = """(() => {
  const e = document.activeElement, style = getComputedStyle(e);
  return [e.id || e.dataset.pick || e.dataset.key || e.dataset.fold || e.getAttribute("href") || e.tagName,
    e.matches(":focus-visible") && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
})()"""


def check_first_screen(page, data):
    """Checks that the main elements are visible without scrolling, and complete."""
    page.size(1440, 900)
    page.value("scrollTo(0, 0)")
    if data["exitCode"] == 0 and not data["reports"]:
        lane = page.value("timeline.canvas.getBoundingClientRect().top + timeline.y(1)")
        expect(lane < 900, f"the first lane in the first screen: it ends at {lane}")
    parts = page.value("element('parts').innerText")
    for words in ("computation", "in MPI", "waiting"):
        expect(re.search(words + r"\s[\d.]+\s%", parts), f"'{words}' with its share: '{parts}'")
    if data["crowding"]:
        first = page.value("element('glance').querySelector('h3').innerText")
        expect(re.fullmatch(r"\d+ ranks share \d+ cores?( of \d+ nodes)?: waiting is mostly waiting for a core", first),
               f"the notice that ranks share cores: '{first}'")
        advice = page.value("element('findings').innerText")
        blames = "Give that rank" in advice or "give the late rank" in advice
        expect(not blames, f"advice for shared cores: '{advice}'")


def check_widths(page):
    """Checks that nothing is cut off in windows of several widths, and that "rank" and its number are on one line."""
    for width, height in ((1440, 900), (800, 900), (400, 800)):
        page.size(width, height)
        wider = page.value(WIDER)
        expect(not wider, f"room at {width} pixels for {wider}")
        wide = page.value("document.documentElement.scrollWidth")
        expect(wide <= width, f"a width of {width} pixels: it has {wide}")
    breakable = page.value(BREAKABLE)
    expect(not breakable, f"'rank' and its number on one line: {breakable}")
    page.size(1440, 900)


def tab_to(page, wanted):
    """Presses Tab until `wanted` has the focus."""
    for _ in range(300):
        page.key("Tab")
        name, visible = page.value(FOCUS)
        expect(visible or name == "BODY", f"a visible focus at {name}")   # the body follows the last stop
        if name == wanted:
            return
    sys.exit(f"the page lacks a way to {wanted} by Tab")


def check_keyboard(page, data):
    """Uses the page with the keyboard alone."""
    page.value("document.activeElement.blur(), scrollTo(0, 0), getSelection().removeAllRanges()")
    tab_to(page, "#glance")
    page.key("Enter")
    expect(page.value("location.hash") == "#glance", "a link to its results")
    page.value("history.replaceState(null, '', location.pathname)")
    for stop in ("+", "w", "lanes"):
        tab_to(page, stop)
    whole = page.value("timeline.to - timeline.from")
    for key in ("+", "+"):
        page.key(key)
    begin = page.value("timeline.from")
    page.key("ArrowRight")
    expect(page.value("timeline.from") > begin, "a timeline that moves by →")
    page.key("ArrowLeft")
    page.key("Home")
    expect(page.value("timeline.to - timeline.from") == whole, "the whole time by Home")
    page.key("ArrowDown")
    expect(page.value("element('details').innerText").startswith("Rank"), "details of a call by ↓")
    page.key("Escape")
    expect(page.value("timeline.chosen") is None, "no chosen call after Esc")
    page.key("?")
    expect(page.value("element('keys').open"), "its list of keys by ?")
    page.key("Escape")
    expect(not page.value("element('keys').open"), "a way out of the list of keys by Esc")
    for row, key in (("wait:0", "Enter"), ("wait:1", " ")):
        if not page.value(f"Boolean(document.querySelector('[data-pick=\"{row}\"]'))"):
            continue
        tab_to(page, row)
        page.key(key)
        expect(page.value("document.activeElement.id") == "lanes", f"the timeline after {key!r} on a row")
        expect(page.value("element('details').innerText").startswith("Rank"), f"details after {key!r} on a row")
        page.key("Escape")
        expect(page.value("document.activeElement.dataset.pick") == row, "the row again after Esc")
    if data["pairs"]:
        tab_to(page, "CANVAS")
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            page.key(key)
        pair = page.value("element('pair').innerText")
        expect(pair.startswith("From rank 1 to rank 1:"), f"a pair of ranks by arrows: '{pair}'")
    if len(data["collectiveSums"]) > 1:
        tab_to(page, "collective:1")
        page.key(" ")
        name = data["algorithms"][data["collectiveSums"][1]["algorithm"]][0]
        expect(page.value("element('tree').innerText").startswith(name), f"the tree of {name} by Space")
    page.value("timeline.show(0, timeline.length), timeline.choose(null)")
    unnamed = page.value("[...document.querySelectorAll('button, canvas, dialog, nav, [role=application], [role=group]')"
                         "].filter(e => !['aria-label', 'aria-labelledby'].some(name => e.hasAttribute(name)) &&"
                         " (e.tagName !== 'BUTTON' || !e.innerText)).map(e => e.outerHTML)")
    expect(not unnamed, f"names for {unnamed}")


def check_print(page, data):
    """Checks that paper gets everything but the controls, whole tables, and the whole timeline on one page."""
    dark = page.value("document.documentElement.className")
    page.medium("print")
    page.value("preparePrint()")
    page.size(718, 1000)   # the width of A4 less its margins
    wider = page.value(WIDER)
    expect(not wider, f"room on paper for {wider}")
    lanes = page.value("timeline.shown >= timeline.height ? timeline.rows.length : 0")
    expect(lanes == len(data["lanes"]), f"all lanes on paper: it has {lanes}")
    height = page.value("timeline.canvas.clientHeight")
    expect(0 < height < 1000, f"a timeline that fits on a page: {height}")
    page.medium("")
    page.value("endPrint()")
    page.size(1440, 900)
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        page.value("(() => { const print = timeline.print, calls = window.printCalls = [];"
                   "timeline.print = function (on) { calls.push(on); print.call(this, on); }; })()")
        page.pdf(file.name)
        calls = page.value("printCalls")
        expect(calls == [True, False], f"a timeline that is drawn for paper and then for the screen: {calls}")
        words = ["pdftotext", "-layout", file.name, "-"]
        text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    pages = text.count("\f")
    expect(1 <= pages <= 8, f"1 to 8 pages on paper: {pages}")
    words = ["What the ranks did", "At a glance", "Timeline", "Who waited, and why", "Where the time went", "By call",
             "Who talked to whom", "Collectives", "Written by mpiexec", *(r["headline"] for r in data["reports"])]
    for word in words:
        expect(re.sub(r"\s", "", word) in re.sub(r"\s", "", text), f"'{word}' on paper")
    for control in ("next wait", "Keyboard:", "Skip to"):
        expect(control not in text, f"paper without '{control}'")
    expect(page.value("document.documentElement.className") == dark, "its colours after printing")


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
    if scheme == "light":   # what does not depend on colours is checked once
        check_widths(page)
        check_folding(page, data, levels)
        check_keyboard(page, data)
    else:
        check_print(page, data)
    poor = page.value(CONTRAST)
    expect(not poor, f"a contrast of 4.5 for {poor}")
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
