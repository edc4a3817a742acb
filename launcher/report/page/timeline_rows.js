// SPDX-License-Identifier: BSD-3-Clause
// The rows of the timeline: one lane each, or all lanes of a node, socket, NUMA node, cache or core folded into one
// row, which shows the fractions of them that compute, are in MPI, and wait.

/** Returns the levels of folding, the widest first: name, and for each lane its group. Cores and caches are known
    only if ranks stay where they were started; levels that fold nothing are omitted. */
function foldLevels() {
  const where = new Map();   // rank → node and position
  report.machines.forEach((m, node) => m.ranks.forEach(([rank, socket, numa, l3, core]) =>
    where.set(rank, { node, host: m.host, fixed: m.fixed, socket, numa, l3, core })));
  if (!report.lanes.every(lane => where.has(lane.rank))) return [];
  const several = report.machines.length > 1;
  const group = (level, words) => report.lanes.map(lane => {
    const at = where.get(lane.rank);
    return [several ? at.host : "", level ? `${words} ${at[level]}` : several ? "" : at.host].filter(Boolean).join(", ");
  });
  const fixed = report.machines.every(m => m.fixed);
  const levels = [["node", group("", "")], ["socket", group("socket", "socket")], ["numa", group("numa", "NUMA node")],
    ...(fixed ? [["l3", group("l3", "L3")], ["core", group("core", "core")]] : [])];
  const count = groups => new Set(groups).size;
  return levels.filter(([, groups], i) => count(groups) < report.lanes.length &&
    (i === 0 || count(groups) > count(levels[i - 1][1]))).map(([name, groups]) => ({ name, groups }));
}

function levelName(level) { return { numa: "NUMA node", l2: "L2 cache", l3: "L3 cache" }[level] ?? level; }

Object.assign(timeline, {
  level: -1,          // index in `levels`; −1: each rank has a row
  open: new Set(),    // groups whose ranks have rows of their own nevertheless

  startRows() {
    this.levels = foldLevels();
    element("fold").innerHTML = this.levels.length === 0 ? "" : ["rank", ...this.levels.map(l => levelName(l.name))].map((name, i) =>
      `<button data-fold="${i - 1}" title="one row for each ${name} (f)">${name}</button>`).join("");
    element("fold").onclick = e => { if (e.target.dataset.fold) this.fold(Number(e.target.dataset.fold)); };
    this.makeRows();
  },

  /** Shows one row per group of a level; −1: one per rank. */
  fold(level) {
    this.level = level >= this.levels.length ? -1 : level;
    this.open.clear();
    this.makeRows();
    this.resize();
  },
  foldNext() { if (this.levels.length) this.fold(this.level + 1); },

  makeRows() {
    this.rows = [];
    this.rowOf = [];   // row index, by lane
    const groups = this.level < 0 ? [] : this.levels[this.level].groups, known = new Map();
    report.lanes.forEach((lane, i) => {
      const group = groups[i];
      if (group !== undefined && !this.open.has(group)) {
        if (!known.has(group)) known.set(group, this.rows.push({ group, lanes: [] }) - 1);
        this.rowOf[i] = known.get(group);
      } else this.rowOf[i] = this.rows.push({ lanes: [] }) - 1;
      this.rows[this.rowOf[i]].lanes.push(i);
    });
    document.querySelectorAll("#fold button").forEach(b => {
      b.classList.toggle("on", Number(b.dataset.fold) === this.level);
      b.setAttribute("aria-pressed", Number(b.dataset.fold) === this.level);
    });
  },
  isFolded(lane) { return this.rows[this.rowOf[lane]].group !== undefined; },
  /** Gives the ranks of a group rows of their own. */
  unfold(group) {
    this.open.add(group);
    this.makeRows();
    this.resize();
  },
  label(row) { return row.group === undefined ? `rank ${report.lanes[row.lanes[0]].rank}` : row.group; },

  drawRow(row, index) {
    if (row.group === undefined) return this.drawLane(report.lanes[row.lanes[0]], index);
    const sums = this.sumsOf(row.lanes), g = this.g, gap = this.gap();
    const top = this.y(index) + gap, height = this.row - 2 * gap;
    for (let x = this.left; x < sums.there.length; ++x) {
      let from = top + height;
      for (const [name, part] of [["wait", sums.waits[x]], ["mpi", sums.busy[x] - sums.waits[x]], ["compute", sums.there[x] - sums.busy[x]]]) {
        const share = Math.max(0, part) / row.lanes.length * height;
        g.fillStyle = this.colours[name];
        g.fillRect(x, from - share, 1, share);
        from -= share;
      }
    }
  },

  /** Returns for each pixel how many of the lanes are running, are in MPI, and wait there. */
  sumsOf(lanes) {
    const columns = Math.ceil(this.width), [there, busy, waits] = [0, 0, 0].map(() => new Float32Array(columns + 1));
    for (const i of lanes) {
      const lane = report.lanes[i], calls = lane.unpacked;
      this.addSpan(there, this.x(lane.started), this.x(lane.ended));
      for (let k = Math.max(0, lowerBound(calls.count, n => calls.begin[n], this.from) - 1); k < calls.count && calls.begin[k] < this.to; ++k) {
        const x0 = this.x(calls.begin[k]), x1 = this.x(calls.begin[k] + calls.length[k]);
        this.addSpan(busy, x0, x1);
        this.addSpan(waits, x0, x0 + (x1 - x0) * (calls.length[k] > 0 ? calls.waited[k] / calls.length[k] : 0));
      }
    }
    return { there, busy, waits };
  },
  addSpan(sums, x0, x1) {
    const from = Math.max(this.left, x0), to = Math.min(this.width, x1);
    for (let x = Math.floor(from); x < to; ++x) sums[x] += Math.min(x + 1, to) - Math.max(x, from);
  },
});
