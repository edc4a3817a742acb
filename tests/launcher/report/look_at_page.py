# SPDX-License-Identifier: BSD-3-Clause
"""Checks a page of mpiexec --report: look_at_page.py [--browser] FILE CHECK...

Checks: ranks=N, messages=LEAST.., collectives=LEAST.., error=CODE, ending=WORDS, unfinished=RANKS, cause=NAME,
place=WORDS, algorithms=A,B, nodes=N, well, lost. They are about the data in the page. With --browser the page must also open
in Chromium, light and dark, without a message on its console, draw lanes and an arrow, and obey its keys; --pictures
FOLDER then leaves screenshots there, --seconds prints how long it took to open.
"""
import json
import re
import sys

import browser

PIXELS = """(() => {
  timeline.drawNow();
  const g = timeline.canvas.getContext("2d"), scale = devicePixelRatio || 1, seen = {};
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
    """What the ranks waited is the same in every list."""
    sums = {
        "ranks": sum(lane["waited"] for lane in data["lanes"]),
        "causes": sum(cause["time"] for cause in data["causes"]),
        "places": sum(wait["time"] for wait in data["waits"]),
        "calls": sum(call[4] for call in data["byCall"]),
        "lines": sum(call[4] for call in data["byLine"]),
    }
    expect(len(set(sums.values())) == 1, f"equal sums of waiting time: {sums}")


def check_shown_sums(page, data):
    """The same of what the page shows; the cause with the most time comes first."""
    waited = sum(cause["time"] for cause in data["causes"])
    if waited == 0:
        return
    for where in ("causes", "waits", "findings"):
        times = page.value(f"[...document.querySelectorAll('#{where} [data-time]')].map(e => Number(e.dataset.time))")
        expect(sum(times) == waited, f"times in #{where} whose sum is {waited}: {times}")
    largest = max(data["causes"], key=lambda cause: cause["time"])["name"]
    for where in ("causes", "findings"):
        first = page.value(f"document.querySelector('#{where} [data-time]').innerText")
        expect(first.startswith(largest), f"'{largest}' first in #{where}: '{first}'")


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
            expect(not data["reports"] and not data["ending"] and data["exitCode"] == 0, "a good end")
        elif name == "nodes":
            expect(len(data["machines"]) == int(value), f"{value} nodes")
            expect(sum(lane["clockError"] > 0 for lane in data["lanes"]) >= int(value) - 1, "errors of clocks")
        elif name == "lost":
            expect(all(lane["lost"] > 0 for lane in data["lanes"]), "lanes whose begin was overwritten")
        else:
            sys.exit(f"there is no check {name}")


def check_page(page, file, data, scheme, pictures):
    page.prefer(scheme)
    seconds = page.open(file)
    text = page.value("document.body.innerText")
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
    expect(not page.complaints, f"a silent console: {page.complaints}")
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
    page = browser.Browser()
    try:
        seconds = [check_page(page, file, data, scheme, pictures) for scheme in ("light", "dark")]
    finally:
        page.close()
    if "--seconds" in words:
        print(f"{max(seconds):.2f} s")


main(*sys.argv[1:])
