// SPDX-License-Identifier: BSD-3-Clause
// The timeline: one row per rank or group of ranks (timeline_rows.js), redrawn at every change. Calls thinner than a
// pixel are summed per pixel.

const printedWidth = 1000, printedHeight = 780;   // of the timeline on paper, in pixels: all rows on one page

const timeline = {
  from: 0, to: 1, row: 40, left: 0, chosen: null, most: { arrows: 1500, bands: 400 },

  start() {
    this.box = element("lanes");
    this.canvas = element("timeline");
    this.to = this.length = Math.max(1, report.length);
    this.laneOf = new Map(report.lanes.map((lane, i) => [lane.rank, i]));
    this.longestMessage = Math.max(0, ...chunked(report.messages, m => m.received - m.sent));
    this.longestBand = Math.max(0, ...chunked(report.collectives, c => c.end - c.first));
    this.box.addEventListener("wheel", e => this.wheel(e), { passive: false });
    this.canvas.addEventListener("pointerdown", e => this.drag(e));
    this.canvas.addEventListener("pointermove", e => this.hover(e));
    this.canvas.addEventListener("dblclick", () => this.zoomToChosen());
    this.box.addEventListener("scroll", () => this.draw());
    this.startRows();
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.resize();
  },

  resize() {
    const type = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const n = this.rows.length, room = this.printed ? printedHeight : window.innerHeight * 0.62;
    this.type = type;
    this.axis = Math.round(1.9 * type);
    this.row = Math.max(this.printed ? 1 : type * 0.55, Math.min(type * 3.4, (room - this.axis) / n));
    const longest = chunked(this.rows, row => this.label(row).length)[0];
    this.left = Math.round(type * Math.max(4.2, Math.min(14, 0.6 * longest)));
    this.width = this.printed ? printedWidth : this.box.clientWidth;
    this.height = Math.ceil(this.axis + n * this.row + 4);
    const scale = this.scale();
    // Browsers do not support a canvas with the lanes of a thousand ranks: the canvas covers the visible part and
    // follows the scrolling.
    this.shown = this.printed ? this.height : Math.min(this.height, Math.ceil(window.innerHeight * 0.74));
    this.canvas.style.cssText = this.printed ? "width:100%;height:auto" : `width:${this.width}px;height:${this.shown}px;position:sticky;top:0`;
    this.canvas.width = this.width * scale;
    this.canvas.height = this.shown * scale;
    this.filler ??= this.box.appendChild(document.createElement("div"));
    this.filler.style.height = `${this.height - this.shown}px`;
    this.draw();
  },

  scale() { return this.printed ? 2 : window.devicePixelRatio || 1; },
  x(t) { return this.left + (t - this.from) / (this.to - this.from) * (this.width - this.left); },
  t(x) { return this.from + (x - this.left) / (this.width - this.left) * (this.to - this.from); },
  /** Returns the space above and below a lane. */
  gap() { return this.row > 14 ? 3 : this.row > 4 ? 1 : 0; },
  y(row) { return this.axis + row * this.row - this.box.scrollTop; },
  yOfLane(lane) { return this.y(this.rowOf[lane]); },

  /** Draws all rows for paper, in light colours; false: for the screen again. */
  print(printed) {
    this.printed = printed;
    this.resize();
    this.drawNow();
  },

  draw() {
    if (!this.canvas || this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.drawNow(); });
  },

  drawNow() {
    const scale = this.scale(), g = this.g = this.canvas.getContext("2d");
    this.colours = Object.fromEntries(["card", "text", "soft", "line", "compute", "mpi", "wait", "never", "band",
      "message", "unknown", "chosen"].map(name => [name, colour(name)]));
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.fillStyle = this.colours.card;
    g.fillRect(0, 0, this.width, this.shown);
    this.rows.forEach((row, i) => {
      if (this.y(i + 1) >= this.axis && this.y(i) <= this.shown) this.drawRow(row, i);
    });
    g.save();
    g.beginPath();
    g.rect(this.left, this.axis, this.width - this.left, this.shown);
    g.clip();
    const bands = this.drawBands(), arrows = this.drawArrows();
    this.drawChosen();
    g.restore();
    this.drawAxis();
    this.drawLabels();
    element("hint").textContent = [bands, arrows].filter(Boolean).join(" · ");
  },

  drawLane(lane, i) {
    const g = this.g, c = this.colours, gap = this.gap();
    const top = this.y(i) + gap, height = this.row - 2 * gap;
    const left = Math.max(this.left, this.x(lane.started)), right = Math.min(this.width, this.x(lane.ended));
    if (right <= left) return;
    g.fillStyle = c.compute;
    g.fillRect(left, top, right - left, height);
    if (lane.lost > 0) {
      g.fillStyle = c.unknown;
      g.fillRect(left, top, Math.min(right, this.x(lane.completeFrom)) - left, height);
    }
    const calls = lane.unpacked, columns = Math.ceil(this.width);
    const busy = new Float32Array(columns + 1), waits = new Float32Array(columns + 1);
    const first = Math.max(0, lowerBound(calls.count, k => calls.begin[k], this.from) - 1);
    for (let k = first; k < calls.count && calls.begin[k] < this.to; ++k) {
      const x0 = this.x(calls.begin[k]), x1 = this.x(calls.begin[k] + calls.length[k]);
      if (x1 < this.left) continue;
      if (x1 - x0 < 1.5) {
        const column = Math.max(0, x0 | 0);
        busy[column] += x1 - x0;
        waits[column] += (x1 - x0) * (calls.length[k] > 0 ? calls.waited[k] / calls.length[k] : 0);
      } else this.drawCall(calls, k, x0, x1, top, height);
    }
    this.drawColumns(busy, waits, top, height);
  },

  /** Draws calls that are too short to be seen: the fraction of each pixel's time that they took, from the bottom. */
  drawColumns(busy, waits, top, height) {
    const g = this.g;
    for (let x = this.left; x < busy.length; ++x) {
      if (busy[x] === 0) continue;
      const all = Math.min(1, busy[x]) * height, waited = Math.min(1, waits[x]) * height;
      g.fillStyle = this.colours.mpi;
      g.fillRect(x, top + height - all, 1, all - waited);
      g.fillStyle = this.colours.wait;
      g.fillRect(x, top + height - waited, 1, waited);
    }
  },

  drawCall(calls, k, x0, x1, top, height) {
    const g = this.g, c = this.colours, name = report.names[calls.name[k]];
    const left = Math.max(this.left, x0), right = Math.min(this.width, x1);
    g.fillStyle = c.mpi;
    g.fillRect(left, top, right - left, height);
    const until = Math.min(right, x0 + (x1 - x0) * (calls.length[k] > 0 ? calls.waited[k] / calls.length[k] : 0));
    g.fillStyle = report.causes[calls.cause[k]].name === "never ended" ? c.never : c.wait;
    if (until > left) g.fillRect(left, top, until - left, height);
    if (x1 - x0 > 3) {
      g.fillStyle = c.card;
      g.fillRect(x1 - 0.75, top, 0.75, height);
    }
    const size = Math.min(this.type * 0.82, height * 0.62);
    if (size < 7 || right - left < size * 3) return;
    g.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
    const label = name.replace("MPI_", "");
    if (g.measureText(label).width > right - left - 6) return;
    const onWait = until > left + (right - left) / 3;
    g.fillStyle = onWait || document.documentElement.classList.contains("dark") ? "#16181b" : "#ffffff";
    g.textBaseline = "middle";
    g.fillText(label, left + 4, top + height / 2);
  },

  /** Draws the visible bands; returns a message instead if there are too many. */
  drawBands() {
    const all = report.collectives, g = this.g, visible = [];
    let n = 0;
    for (let i = lowerBound(all.length, k => all[k].first, this.from - this.longestBand); i < all.length; ++i) {
      if (all[i].first > this.to) break;
      if (all[i].end < this.from) continue;
      if (++n <= this.most.bands) visible.push(all[i]);
    }
    if (n > this.most.bands) return `${count(n)} collectives here: zoom in to see each of them`;
    for (const one of visible) this.drawBand(g, one);
    return "";
  },

  drawBand(g, one) {
    const members = one.entries.filter(e => this.laneOf.has(e.rank) && !this.isFolded(this.laneOf.get(e.rank))).sort((a, b) => this.laneOf.get(a.rank) - this.laneOf.get(b.rank));
    if (members.length < 2) return;
    const edge = (e, t, low) => [this.x(t), this.yOfLane(this.laneOf.get(e.rank)) + this.row * (low ? 0.86 : 0.14)];
    const outline = [];
    for (const e of members) outline.push(edge(e, e.entry, false), edge(e, e.entry, true));
    for (const e of [...members].reverse()) outline.push(edge(e, Math.max(e.exit, e.entry), true), edge(e, Math.max(e.exit, e.entry), false));
    g.beginPath();
    outline.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y));
    g.closePath();
    g.globalAlpha = 0.22;
    g.fillStyle = this.colours.band;
    g.fill();
    g.globalAlpha = 0.9;
    g.lineWidth = 1.2;
    g.strokeStyle = this.colours.band;
    g.stroke();
    g.globalAlpha = 1;
    const [collective, , algorithm] = report.algorithms[one.algorithm], last = members[0];
    const left = Math.max(this.left + 3, this.x(Math.min(...members.map(e => e.entry)))), right = this.x(one.end);
    const text = `${collective}${algorithm ? " by " + algorithm : ""}`, size = this.type * 0.78;
    g.font = `600 ${size}px system-ui, "DejaVu Sans", sans-serif`;
    if (g.measureText(text).width > right - left || this.row < size) return;
    const y = this.yOfLane(this.laneOf.get(last.rank)) + this.row;
    g.fillStyle = this.colours.card;
    g.globalAlpha = 0.85;
    g.fillRect(left, y - size * 0.62, g.measureText(text).width + 6, size * 1.25);
    g.globalAlpha = 1;
    g.fillStyle = this.colours.band;
    g.textBaseline = "middle";
    g.fillText(text, left + 3, y);
  },

  drawArrows() {
    const all = report.messages, visible = [];
    let n = 0;
    for (let i = lowerBound(all.length, k => all[k].sent, this.from - this.longestMessage); i < all.length; ++i) {
      if (all[i].sent > this.to) break;
      if (all[i].received < this.from) continue;
      if (++n <= this.most.arrows) visible.push(all[i]);
    }
    if (n > this.most.arrows) return `${count(n)} messages here: zoom in to see their arrows`;
    const alpha = n > 400 ? 0.35 : n > 100 ? 0.6 : 0.85;
    for (const m of visible) this.drawArrow(m, alpha, n < 400);
    return "";
  },

  drawArrow(m, alpha, head, width = 1.3) {
    const g = this.g, from = this.laneOf.get(m.from), to = this.laneOf.get(m.to);
    if (from === undefined || to === undefined || this.rowOf[from] === this.rowOf[to]) return;
    const down = this.rowOf[to] > this.rowOf[from], x0 = this.x(m.sent), x1 = this.x(m.received);
    const y0 = this.yOfLane(from) + this.row * (down ? 0.8 : 0.2), y1 = this.yOfLane(to) + this.row * (down ? 0.12 : 0.88);
    g.globalAlpha = alpha;
    g.strokeStyle = g.fillStyle = this.colours.message;
    g.lineWidth = width;
    g.beginPath();
    g.moveTo(x0, y0);
    g.lineTo(x1, y1);
    g.stroke();
    if (head) {
      const angle = Math.atan2(y1 - y0, x1 - x0), size = Math.min(9, this.row / 3) * (width > 2 ? 1.4 : 1);
      g.beginPath();
      g.moveTo(x1, y1);
      for (const turn of [2.7, -2.7]) g.lineTo(x1 + size * Math.cos(angle + turn), y1 + size * Math.sin(angle + turn));
      g.closePath();
      g.fill();
    }
    g.globalAlpha = 1;
  },

  drawChosen() {
    if (!this.chosen || this.isFolded(this.chosen.lane)) return;
    const { lane, call } = this.chosen, calls = report.lanes[lane].unpacked, g = this.g;
    const x0 = this.x(calls.begin[call]), x1 = this.x(calls.begin[call] + calls.length[call]);
    for (const m of messagesOf(lane, call)) this.drawArrow(m, 1, true, 2.6);
    g.strokeStyle = this.colours.chosen;
    g.lineWidth = 2.5;
    g.strokeRect(x0 - 1, this.yOfLane(lane) + 1, Math.max(3, x1 - x0) + 2, this.row - 2);
  },

  drawAxis() {
    const g = this.g, c = this.colours;
    g.fillStyle = c.card;
    g.fillRect(0, 0, this.width, this.axis);
    g.font = `${this.type * 0.82}px system-ui, "DejaVu Sans", sans-serif`;
    g.textBaseline = "middle";
    const wish = (this.to - this.from) * this.type * 7 / (this.width - this.left);
    const power = 10 ** Math.floor(Math.log10(wish));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= wish);
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = this.x(t), label = axisTime(t, step);
      g.fillStyle = c.line;
      g.fillRect(x, this.axis - 6, 1, this.shown);
      g.fillStyle = c.soft;
      if (x + g.measureText(label).width < this.width) g.fillText(label, x + 4, this.axis / 2);
    }
  },

  drawLabels() {
    const g = this.g, c = this.colours, size = Math.max(this.type * 0.7, Math.min(this.type * 0.95, this.row));
    g.fillStyle = c.card;
    g.fillRect(0, this.axis, this.left - 2, this.shown);
    g.textBaseline = "middle";
    g.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
    const every = Math.ceil(size * 1.1 / this.row);
    this.rows.forEach((row, i) => {
      if (i % every || this.y(i) < this.axis - this.row || this.y(i) > this.shown) return;
      g.fillStyle = this.chosen && row.lanes.includes(this.chosen.lane) ? c.text : c.soft;
      const y = this.y(i) + this.row / 2, top = this.axis + size / 2;   // the axis would hide a part of the first label
      g.fillText(this.label(row), 6, i === 0 && this.y(0) >= this.axis ? Math.max(y, top) : y, this.left - 12);
    });
    g.fillStyle = c.card;
    g.fillRect(0, 0, this.left - 2, this.axis);
  },
};

/** Returns the maximum as a list of one element; unlike Math.max(...list), works for lists of any length. */
function chunked(list, of) {
  let most = 0;
  for (const one of list) most = Math.max(most, of(one));
  return [most];
}

function axisTime(t, step) {
  const unit = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Math.round(t / unit[0] * 10) / 10} ${unit[1]}`;
}

/** Returns the messages that a call sends or receives, at most a hundred. */
function messagesOf(lane, call) {
  const calls = report.lanes[lane].unpacked, rank = report.lanes[lane].rank, found = [];
  const begin = calls.begin[call], end = begin + calls.length[call], all = report.messages;
  for (let i = lowerBound(all.length, k => all[k].sent, begin - timeline.longestMessage); i < all.length; ++i) {
    const m = all[i];
    if (m.sent > end || found.length === 100) break;
    if ((m.from === rank && m.sent >= begin) || (m.to === rank && m.received >= begin && m.received <= end)) found.push(m);
  }
  return found;
}
