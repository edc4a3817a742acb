// SPDX-License-Identifier: BSD-3-Clause
// The interaction with the timeline: wheel, pointer, keys, and the description of a call.

Object.assign(timeline, {
  zoom(factor, around = (this.from + this.to) / 2) {
    const length = Math.min(this.length, Math.max(50, (this.to - this.from) * factor));
    const share = (around - this.from) / (this.to - this.from);
    this.show(around - share * length, length);
  },
  show(from, length) {
    this.from = Math.max(0, Math.min(this.length - length, from));
    this.to = this.from + length;
    this.draw();
  },
  wheel(e) {
    if (e.shiftKey) return;
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) return this.move(e.deltaX / (this.width - this.left));
    this.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.004), this.t(Math.max(this.left, e.offsetX)));
  },
  move(share) { this.show(this.from + share * (this.to - this.from), this.to - this.from); },

  drag(e) {
    const start = { x: e.offsetX, from: this.from, y: e.offsetY, moved: false };
    const length = this.to - this.from;
    this.box.focus({ preventScroll: true });
    this.canvas.setPointerCapture(e.pointerId);
    this.canvas.onpointermove = now => {
      start.moved ||= Math.abs(now.offsetX - start.x) > 4;
      if (start.moved) this.show(start.from - (now.offsetX - start.x) / (this.width - this.left) * length, length);
    };
    this.canvas.onpointerup = () => {
      this.canvas.onpointermove = this.canvas.onpointerup = null;
      const row = this.rowAt(start.x, start.y);
      if (!start.moved && row && row.group !== undefined) this.unfold(row.group);
      else if (!start.moved) this.choose(this.at(start.x, start.y));
    };
  },
  hover(e) {
    if (e.buttons !== 0) return;
    const row = this.rowAt(e.offsetX, e.offsetY), call = this.at(e.offsetX, e.offsetY);
    this.canvas.title = row && row.group !== undefined ? `${row.group}: ${ranks(row.lanes.map(i => report.lanes[i].rank))}; a click unfolds it`
      : call ? this.oneLine(call) : "";
  },
  rowAt(x, y) {
    return y < this.axis ? undefined : this.rows[Math.floor((y - this.axis + this.box.scrollTop) / this.row)];
  },
  /** Returns the call at this point; null if there is no call, or if the row stands for several ranks. */
  at(x, y) {
    const row = this.rowAt(x, y);
    if (!row || row.group !== undefined || x < this.left) return null;
    const lane = row.lanes[0];
    const calls = report.lanes[lane].unpacked, t = this.t(x), slack = this.t(x + 2) - t;
    for (let k = lowerBound(calls.count, i => calls.begin[i], t + slack) - 1, tries = 0; k >= 0 && tries < 8; --k, ++tries)
      if (calls.begin[k] + calls.length[k] >= t - slack) return { lane, call: k };
    return null;
  },

  oneLine({ lane, call }) {
    const calls = report.lanes[lane].unpacked;
    return `rank ${report.lanes[lane].rank}: ${report.names[calls.name[call]]}, ${time(calls.length[call])}` +
      (calls.waited[call] > 0 ? `, waited ${time(calls.waited[call])}` : "") + (place(calls.place[call]) ? `, ${place(calls.place[call])}` : "");
  },
  choose(what) {
    this.chosen = what;
    element("details").classList.toggle("chosen", Boolean(what));
    element("details").innerHTML = what ? describe(what.lane, what.call)
      : "Click on a call to see why it took its time.";
    this.draw();
  },
  /** Scrolls and zooms until the call is visible, with a margin. */
  reveal(what, close = false) {
    if (this.isFolded(what.lane)) this.unfold(this.rows[this.rowOf[what.lane]].group);
    const calls = report.lanes[what.lane].unpacked, begin = calls.begin[what.call], length = calls.length[what.call];
    const outside = begin < this.from || begin + length > this.to;
    if (close || outside) this.show(begin - Math.max(200, length * 0.2), Math.min(this.length, Math.max(500, length * 1.4)));
    const y = this.axis + this.rowOf[what.lane] * this.row;
    if (y - this.box.scrollTop < this.axis || y + this.row - this.box.scrollTop > this.shown) this.box.scrollTop = y - this.shown / 2;
    this.choose(what);
  },
  /** Chooses nothing. If the call was chosen by a row of a table, the focus returns there. */
  leave() {
    this.choose(null);
    if (this.pickedRow) this.pickedRow.focus();
    this.pickedRow = null;
  },
  zoomToChosen() { if (this.chosen) this.reveal(this.chosen, true); },

  step(by) {
    if (!this.chosen) return this.stepLane(0);
    const call = this.chosen.call + by;
    if (call >= 0 && call < report.lanes[this.chosen.lane].unpacked.count) this.reveal({ lane: this.chosen.lane, call });
  },
  stepLane(by) {
    const lane = Math.max(0, Math.min(report.lanes.length - 1, (this.chosen ? this.chosen.lane : 0) + by));
    const calls = report.lanes[lane].unpacked;
    if (calls.count === 0) return;
    const t = this.chosen ? report.lanes[this.chosen.lane].unpacked.begin[this.chosen.call] : this.from;
    this.reveal({ lane, call: Math.max(0, Math.min(calls.count - 1, lowerBound(calls.count, i => calls.begin[i], t))) });
  },
  nextWait() {
    this.waits ??= longestWaits();
    if (this.waits.length === 0) return;
    this.wait = ((this.wait ?? -1) + 1) % this.waits.length;
    this.reveal(this.waits[this.wait], true);
  },
});

/** Returns the thirty longest waits of all ranks. */
function longestWaits() {
  const all = [];
  report.lanes.forEach((lane, i) => {
    const calls = lane.unpacked;
    for (let k = 0; k < calls.count; ++k) if (calls.waited[k] > 1000) all.push({ lane: i, call: k, waited: calls.waited[k] });
  });
  return all.sort((a, b) => b.waited - a.waited).slice(0, 30);
}

/** Describes a call and why it took its time, in sentences. */
function describe(lane, call) {
  const calls = report.lanes[lane].unpacked, rank = report.lanes[lane].rank;
  const shown = report.lanes[lane].shown.find(([k]) => k === call);
  const cause = report.causes[calls.cause[call]], where = place(calls.place[call]);
  let text = `<b>Rank ${rank}</b> in <code>${escaped(shown ? shown[1] : report.names[calls.name[call]])}</code>` +
    (where ? ` at <span class="place">${escaped(where)}</span>` : "") +
    `: ${time(calls.length[call])}, from ${time(calls.begin[call])} on` +
    (calls.times[call] > 1 ? `, ${count(calls.times[call])} polling calls` : "") + ".";
  if (calls.waited[call] > 0) {
    text += ` It waited ${time(calls.waited[call])}`;
    if (calls.culprit[call] >= 0) text += `, ${time(calls.caused[call])} of it for <b>rank ${calls.culprit[call]}</b>` +
      (place(calls.culpritPlace[call]) ? ` (at <span class="place">${escaped(place(calls.culpritPlace[call]))}</span>)` : "");
    text += cause.name ? `: <b>${cause.name}</b>. ${escaped(cause.meaning)} <span class="advice">${escaped(cause.advice)}</span>` : ".";
  }
  const messages = messagesOf(lane, call).slice(0, 6).map(m =>
    `${m.from === rank ? `→ rank ${m.to}` : `← rank ${m.from}`}, ${bytes(m.bytes)}, tag ${m.tag}, ${escaped(commName(m.comm))}`);
  if (messages.length) text += `<br>Messages: ${messages.join("; ")}.`;
  return text;
}

const keys = {
  "+": () => timeline.zoom(0.6), "=": () => timeline.zoom(0.6), "-": () => timeline.zoom(1 / 0.6),
  "0": () => timeline.show(0, timeline.length), Home: () => timeline.show(0, timeline.length), ArrowLeft: () => timeline.move(-0.2), ArrowRight: () => timeline.move(0.2),
  ArrowUp: () => timeline.stepLane(-1), ArrowDown: () => timeline.stepLane(1), n: () => timeline.step(1), p: () => timeline.step(-1),
  w: () => timeline.nextWait(), f: () => timeline.foldNext(), Enter: () => timeline.zoomToChosen(), Escape: () => timeline.leave(),
  l: () => changeType(1.15), s: () => changeType(1 / 1.15), t: () => changeTheme(), "?": () => element("keys").showModal(),
};
/** Arrows, Home and Enter act on the page unless the timeline has the focus. */
const onlyInTimeline = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "Enter"];

function press(key, e) {
  if (!keys[key] || (onlyInTimeline.includes(key) && document.activeElement !== timeline.box)) return;
  if (e) e.preventDefault();
  keys[key]();
}
function changeType(factor) {
  const type = Math.max(11, Math.min(40, parseFloat(getComputedStyle(document.documentElement).fontSize) * factor));
  document.documentElement.style.setProperty("--type", `${type}px`);
  timeline.resize();
  drawMatrix();
  showTree();
}
function changeTheme() {
  document.documentElement.classList.toggle("dark");
  timeline.draw();
  drawMatrix();
}

/** Paper is light, and shows all rows of the timeline. */
function preparePrint() {
  const classes = document.documentElement.classList;
  preparePrint.wasDark = classes.contains("dark");
  classes.remove("dark");
  timeline.print(true);
  drawMatrix();
  showTree(printedWidth);
}
function endPrint() {
  document.documentElement.classList.toggle("dark", preparePrint.wasDark);
  timeline.print(false);
  drawMatrix();
  showTree();
}
