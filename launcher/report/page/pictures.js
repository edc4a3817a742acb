// SPDX-License-Identifier: BSD-3-Clause
// The matrix of traffic between ranks, and the tree of a collective over the machine.

const matrix = { by: 3, canvas: null, at: null }, tree = { sum: null };

function showMatrix() {
  if (report.pairs.length === 0) return void (element("pairs").innerHTML = "<p>No messages from rank to rank; collectives are below.</p>");
  element("pairs").innerHTML = `<div class="bar"><span>Each square: what the rank of its row has sent to the rank of its column.</span>
    <span class="buttons"><button id="by-bytes">bytes</button><button id="by-messages">messages</button></span></div>
    <canvas tabindex="0" role="application" aria-label="Traffic between ranks; the arrow keys choose a pair"></canvas>
    <p id="pair" aria-live="polite">&nbsp;</p>`;
  matrix.canvas = element("pairs").querySelector("canvas");
  element("by-bytes").onclick = () => { matrix.by = 3; drawMatrix(); };
  element("by-messages").onclick = () => { matrix.by = 2; drawMatrix(); };
  matrix.canvas.onpointermove = e => describePair(Math.floor((e.offsetY - matrix.top) / matrix.cell), Math.floor((e.offsetX - matrix.left) / matrix.cell));
  matrix.canvas.onkeydown = e => matrixKey(e);
  matrix.known = new Map(report.pairs.map(p => [`${p[0]},${p[1]}`, p]));
  drawMatrix();
}

function drawMatrix() {
  if (!matrix.canvas) return;
  const n = report.lanes.length, type = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const left = matrix.left = type * 4.6, top = matrix.top = type * 1.6, room = Math.min(type * 34, element("pairs").clientWidth - left - 2);
  const cell = matrix.cell = Math.max(1, Math.min(type * 2.4, Math.floor(room / n)));
  const scale = window.devicePixelRatio || 1, width = left + n * cell + 2, height = top + n * cell + 2;
  matrix.canvas.style.cssText = `width:${width}px;height:${height}px`;
  matrix.canvas.width = width * scale;
  matrix.canvas.height = height * scale;
  const g = matrix.canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.fillStyle = colour("unknown");
  g.fillRect(left, top, n * cell, n * cell);
  const [most] = chunked(report.pairs, p => p[matrix.by]);
  for (const p of report.pairs) {
    g.globalAlpha = 0.15 + 0.85 * Math.sqrt(p[matrix.by] / Math.max(1, most));
    g.fillStyle = colour("mpi");
    g.fillRect(left + timeline.laneOf.get(p[1]) * cell, top + timeline.laneOf.get(p[0]) * cell, cell - (cell > 6 ? 1 : 0), cell - (cell > 6 ? 1 : 0));
  }
  g.globalAlpha = 1;
  if (matrix.at) {
    g.strokeStyle = colour("chosen");
    g.lineWidth = 2;
    g.strokeRect(left + matrix.at[1] * cell, top + matrix.at[0] * cell, cell, cell);
  }
  g.fillStyle = colour("text");
  g.font = `${type * 0.85}px system-ui, "DejaVu Sans", sans-serif`;
  g.textBaseline = "middle";
  const every = Math.ceil(type * 1.6 / cell);
  report.lanes.forEach((lane, i) => {
    if (i % every) return;
    g.fillText(`rank ${lane.rank}`, 2, top + (i + 0.5) * cell);
    g.fillText(lane.rank, left + (i + 0.5) * cell - type * 0.3, top / 2);
  });
}

/** Describes the pair in this row and column, if there is one. */
function describePair(row, column) {
  const from = report.lanes[row], to = report.lanes[column];
  if (!from || !to) return;
  matrix.at = [row, column];
  const pair = matrix.known.get(`${from.rank},${to.rank}`);
  element("pair").textContent = `From rank ${from.rank} to rank ${to.rank}: ` + (pair ? `${count(pair[2])} messages, ${bytes(pair[3])}.` : "nothing.");
  drawMatrix();
}

function matrixKey(e) {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  if (!step) return;
  e.preventDefault();
  const most = report.lanes.length - 1, [row, column] = matrix.at ?? [0, 0];
  const moved = matrix.at ? [row + step[0], column + step[1]] : [0, 0];
  describePair(...moved.map(i => Math.max(0, Math.min(most, i))));
}

/** Ranks in the order of the machine: by host, socket, NUMA node, cache, core. */
function ranksOnMachine() {
  const all = [];
  report.machines.forEach((machine, m) => machine.ranks.forEach(([rank, socket, numa, l3, core]) => all.push({ rank, boxes: [`${m}`, `${m}.${socket}`, `${m}.${socket}.${numa}`], core, l3, m, socket, numa })));
  return all.sort((a, b) => a.m - b.m || a.socket - b.socket || a.numa - b.numa || a.l3 - b.l3 || a.core - b.core || a.rank - b.rank);
}

/** Edges of the tree, from each level's teams: a team's leader represents it in the next level. */
function treeEdges(levels, root) {
  const leader = team => team.includes(root) ? root : Math.min(...team);
  const edges = [];
  levels.forEach((level, k) => level.teams.forEach(team => {
    const below = k === 0 ? team.map(r => [r]) : levels[k - 1].teams.filter(t => team.includes(t[0]));
    const top = leader(team);
    for (const part of below) if (leader(part) !== top) edges.push({ level: k, from: top, to: leader(part) });
  }));
  return edges;
}

/** Draws the tree of the chosen collective, as wide as the page. */
function showTree(room = element("tree").clientWidth) {
  const sum = tree.sum;
  if (!sum) return;
  const [collective, levels, algorithm] = report.algorithms[sum.algorithm], box = element("tree");
  const example = report.collectives.find(c => c.algorithm === sum.algorithm && c.comm === sum.comm);
  if (sum.levels.length === 0) return void (box.innerHTML = "<p class='advice'>Where its ranks lie on the machine is not known.</p>");
  const root = example && example.root >= 0 ? example.root : -1, edges = treeEdges(sum.levels, root);
  const spots = ranksOnMachine(), places = spots.length + boxesBefore(spots, spots.length - 1) / 3;
  const gap = Math.min(46, (room - 80) / Math.max(1, places)), radius = Math.max(1, Math.min(15, gap * 0.42)), every = Math.ceil(24 / gap);
  const outside = radius < 12 ? 14 : 0;   // the height of a line of numbers below dots that are too small for them
  const x = new Map(spots.map((s, i) => [s.rank, 40 + (i + boxesBefore(spots, i) / 3) * gap]));
  const height = 104 + 36 * sum.levels.length, base = height - 20, width = Math.min(room, 80 + gap * places);
  const shades = ["mpi", "band", "good", "wait", "never"];
  const arc = e => {
    const a = x.get(e.from), b = x.get(e.to), lift = 26 + 46 * e.level + Math.min(60, Math.abs(a - b) * 0.14);
    return `<path d="M${a} ${base - radius} C${a} ${base - radius - lift},${b} ${base - radius - lift},${b} ${base - radius}" fill="none" stroke="var(--${shades[e.level % 5]})" stroke-width="${(gap < 30 ? 1 : 2) + e.level}"/>`;
  };
  const dots = spots.map((s, i) => `<circle cx="${x.get(s.rank)}" cy="${base}" r="${radius}" fill="var(--card)" stroke="var(--${s.rank === root ? "never" : "soft"})" stroke-width="${s.rank === root ? 3 : 1.5}"/>` +
    (i % every ? "" : `<text x="${x.get(s.rank)}" y="${base + (outside ? radius + 12 : 5)}" text-anchor="middle" font-size="${outside ? 12 : 14}">${s.rank}</text>`)).join("");
  const known = edges.filter(e => x.has(e.from) && x.has(e.to));
  box.innerHTML = `<h3>${escaped(collective)} by ${escaped(algorithm)} on ${escaped(commName(sum.comm))}: its teams on the machine</h3>
    <svg style="max-width:100%" width="${width}" viewBox="0 0 ${width} ${height + 60 + outside}" role="img" aria-label="tree of ${escaped(collective)}">
    ${machineBoxes(spots, x, base, gap, outside)}${known.map(arc).join("")}${dots}</svg>
    <p>${sum.levels.map((l, k) => `<span class="swatch" style="background:var(--${shades[k % 5]})"></span>${k > 0 ? "between the leaders, " : ""}in each ${escaped(levelName(l.name))}`).join("")}</p>
    <p class="advice">${root >= 0 ? `Root is rank ${root} here; a root leads every team that it is in. ` : "The lowest rank of a team leads it. "}
    An algorithm whose name says nothing of levels may use the outermost team alone.</p>`;
}

function boxesBefore(spots, i) {
  let n = 0;
  for (let k = 1; k <= i; ++k) if (spots[k].boxes[2] !== spots[k - 1].boxes[2]) ++n;
  return n;
}
function machineBoxes(spots, x, base, gap, outside) {
  const names = [m => report.machines[m].host || "node", s => `socket ${s}`, s => `NUMA node ${s}`];
  let text = "";
  [0, 1, 2].forEach(depth => {
    const of = new Map();
    for (const s of spots) of.set(s.boxes[depth], [...(of.get(s.boxes[depth]) ?? []), s]);
    for (const list of of.values()) {
      const inset = Math.min(24, gap / 2 + 3) - depth * 2, left = Math.min(...list.map(s => x.get(s.rank))) - inset, right = Math.max(...list.map(s => x.get(s.rank))) + inset;
      const label = names[depth]([list[0].m, list[0].socket, list[0].numa][depth]);
      text += `<rect x="${left}" y="${base - 22}" width="${right - left}" height="${98 - 18 * depth + outside}" rx="6" fill="none" stroke="var(--line)"/>` +
        `<text x="${left + 4}" y="${base + 70 - 18 * depth + outside}" font-size="12" opacity=".75">${right - left > label.length * 7 ? escaped(label) : ""}</text>`;
    }
  });
  return text;
}
