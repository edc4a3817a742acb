// SPDX-License-Identifier: BSD-3-Clause
// Errors and warnings, the sums at a glance, and the tables.

/** Returns a table. A cell is text or { text, n: a number, long: a cell with a line of its own where the table is a list }.
    `many`: the table has so many columns that it becomes a list on narrow pages. */
function table(head, rows, many = false) {
  const cell = c => c !== null && typeof c === "object" ? c : { text: c };
  const kind = c => c.n ? ' class="n"' : c.long ? ' class="long"' : "";
  const title = i => cell(head[i]).text ? ` data-head="${cell(head[i]).text}"` : "";
  const titles = head.map(cell).map(c => `<th scope="col"${kind(c)}>${c.text}</th>`).join("");
  const body = rows.map(r => `<tr${r.pick ? ` class="pick" data-pick="${r.pick}" tabindex="0"` : ""}${r.time === undefined ? "" : ` data-time="${r.time}"`}>` +
    (r.cells ?? r).map(cell).map((c, i) => `<td${kind(c)}${title(i)}>${c.text}</td>`).join("") + "</tr>").join("");
  return `<div class="fits"><table class="wide${many ? " many" : ""}"><thead><tr>${titles}</tr></thead><tbody>${body}</tbody></table></div>`;
}
const number = text => ({ text, n: true });
const long = text => ({ text, long: true });
function meter(parts, whole) {
  const width = part => whole > 0 ? Math.max(0, 100 * part / whole) : 0;
  return `<div class="meter">${parts.map(([part, name]) => `<i style="width:${width(part)}%;background:var(--${name})"></i>`).join("")}</div>`;
}

function showWrong() {
  const reports = report.reports.map(one => {
    const rows = (one.ranks ?? []).map(r => `<tr><td>${escaped(ranks(r.ranks))}</td><td><code>${escaped(r.call)}</code></td>` +
      `<td class="place">${escaped(r.place ?? "")}</td><td>${escaped(r.remark ?? "")}</td></tr>`).join("");
    const warning = one.severity === "warning";
    return `<div class="report${warning ? " warning" : ""}"><h3>${warning ? "warning" : "error"} ${escaped(one.code)}: ${escaped(one.headline)}</h3>` +
      `<div class="fits"><table>${rows}</table></div>` +
      (one.help ? `<p><b>What helps:</b> ${escaped(one.help)}.</p>` : "") +
      (one.notes ?? []).map(n => `<p class="advice">${escaped(n)}.</p>`).join("") +
      `<p class="advice">For details, run: <code>mpiexec --explain ${escaped(one.code)}</code></p></div>`;
  });
  if (report.ending) reports.push(`<div class="report"><h3>${escaped(report.ending)}</h3></div>`);
  element("wrong").classList.toggle("small", report.exitCode === 0 && reports.length === 0);
  if (report.exitCode === 0 && reports.length === 0) return void (element("wrong").innerHTML = "Nothing went wrong: the job ended well.");
  if (reports.length === 0) reports.push(`<div class="report">The job ended with exit code ${report.exitCode}.</div>`);
  element("wrong").innerHTML = `<h2>What went wrong</h2>` + reports.join("");
}

function showGlance() {
  const sum = of => report.lanes.reduce((all, lane) => all + of(lane), 0);
  const total = sum(l => Math.max(0, l.total)), inMpi = sum(l => l.inMpi), waited = sum(l => l.waited);
  const parts = [["compute", "computation", Math.max(0, total - inMpi)], ["mpi", "in MPI", inMpi - waited], ["wait", "waiting", waited]];
  element("shares").innerHTML = crowding() +
    `<div class="share">${parts.map(([name, , value]) => `<div style="flex:${value};background:var(--${name})"></div>`).join("")}</div>` +
    `<p><span id="parts">${parts.map(([name, words, value]) =>
      `<span><span class="swatch" style="background:var(--${name})"></span>${words} ${percent(value, total)}</span>`).join("")}</span>` +
    ` <span class="advice">of ${report.lanes.length} ${report.lanes.length === 1 ? "rank" : "ranks"} for ${time(report.length)}; ` +
    `${count(report.calls)} MPI calls, ${count(report.messageCount)} messages</span></p>`;
  element("findings").innerHTML = findings(total);
}

/** The first finding if ranks outnumber cores. */
function crowding() {
  const c = report.crowding;
  if (!c) return "";
  return `<div class="report warning" id="crowding"><h3>${c.ranks} ranks share ${c.cores} ${c.cores === 1 ? "core" : "cores"}` +
    `${c.nodes > 1 ? ` of ${c.nodes} nodes` : ""}: waiting is mostly waiting for a core</h3>` +
    `<p>Start at most as many ranks as cores, or use more nodes, to see where the program itself waits.` +
    (c.runDelay > 0 ? ` Ranks were ready but had no core for ${time(c.runDelay)} in sum.` : "") + `</p></div>`;
}

/** The causes of waiting with the most time, each with the place where ranks waited longest because of it, followed
    by the rest of the waiting time. */
function findings(total) {
  const causes = report.causes.map((cause, number) => ({ ...cause, number })).filter(c => c.time > 0).sort((a, b) => b.time - a.time);
  const waited = causes.reduce((sum, c) => sum + c.time, 0), named = causes.slice(0, 3).filter(c => c.time > 0.005 * total);
  if (named.length === 0) return "";
  const rest = waited - named.reduce((sum, c) => sum + c.time, 0);
  const advices = new Map();   // equal advice is shown once, for all its causes
  for (const c of named) advices.set(c.advice, [...advices.get(c.advice) ?? [], c.name]);
  return `<p>Together the ranks waited ${time(waited)}` +
    (rest > 0 ? ` (<span data-time="${rest}">${time(rest)} of it for other causes than these</span>)` : "") + `:</p>` +
    `<div class="findings">${named.map(c => finding(c, waited)).join("")}</div>` +
    [...advices].map(([advice, names]) => `<p class="advice"><b>What helps</b> (${names.join(", ")}): ${escaped(advice)}</p>`).join("");
}

function finding(cause, waited) {
  const w = report.waits.filter(w => w.cause === cause.number).sort((a, b) => b.time - a.time)[0];
  const culprits = [...w.culprits].sort((a, b) => b[1] - a[1]).slice(0, 3).map(c => c[0]);
  return `<div class="finding" data-time="${cause.time}"><p><b>${cause.name}</b>: ${time(cause.time)}, ${percent(cause.time, waited)} of it. ` +
    `${capital(ranks(w.waiting))} waited ${w.time < cause.time ? `${time(w.time)} of that` : "all that time"} in <code>${report.names[w.name]}</code>` +
    (place(w.place) ? ` at <span class="place">${escaped(place(w.place))}</span>` : "") +
    (culprits.length ? ` for ${ranks(culprits)}` : "") +
    (w.culprits.length && place(w.culpritPlace) && w.culpritPlace !== w.place ? ` at <span class="place">${escaped(place(w.culpritPlace))}</span>` : "") +
    `.</p></div>`;
}
function capital(text) { return text[0].toUpperCase() + text.slice(1); }

function showWaits() {
  const all = report.causes.reduce((sum, c) => sum + c.time, 0);
  const causes = report.causes.filter(c => c.time > 0).sort((a, b) => b.time - a.time);
  if (causes.length === 0) return void (element("causes").innerHTML = "<p>No call has waited.</p>");
  element("causes").innerHTML = table(["Why", number("time"), "", "What it means, and what helps"], causes.map(c => ({ time: c.time, cells:
    [`<b>${c.name}</b>`, number(`${time(c.time)}<br>${percent(c.time, all)}`), meter([[c.time, "wait"]], causes[0].time),
      long(`${escaped(c.meaning)} <span class="advice">${escaped(c.advice)}</span>`)] })));
  const most = 40, further = report.waits.slice(most);
  const rows = report.waits.slice(0, most).map((w, i) => ({ pick: `wait:${i}`, time: w.time, cells: [
    number(time(w.time)), report.causes[w.cause].name, escaped(ranks(w.waiting)),
    long(`<code>${report.names[w.name]}</code> <span class="place">${escaped(place(w.place))}</span>`),
    long(w.culprits.length ? `${escaped(ranks([...w.culprits].sort((a, b) => b[1] - a[1]).slice(0, 4).map(c => c[0])))}${w.culprits.length > 4 ? " …" : ""} <span class="place">${escaped(place(w.culpritPlace))}</span>` : ""),
    number(count(w.calls))] }));
  const left = further.reduce((sum, w) => sum + w.time, 0);
  if (further.length) rows.push({ time: left, cells: [number(time(left)), "", "", `${count(further.length)} further places`, "",
    number(count(further.reduce((sum, w) => sum + w.calls, 0)))] });
  element("waits").innerHTML = `<h3>Where</h3><p class="advice screen">Click on a row, or press Enter there, to see its longest wait in the timeline.</p>` +
    table([number("time"), "why", "who waited", "in", "for", number("calls")], rows, true);
}

function showCalls() {
  const longest = list => Math.max(1, ...list.map(s => s[3]));
  const rows = (list, first) => list.slice(0, 30).map(s => [...first(s), number(count(s[2])), number(time(s[3])),
    meter([[s[3] - s[4], "mpi"], [s[4], "wait"]], longest(list)), number(time(s[5]))]);
  const head = [number("calls"), number("time"), "", number("longest")];
  element("by-line").innerHTML = table(["place", "call", ...head], rows(report.byLine, s =>
    [`<span class="place">${escaped(place(s[1]) || "not known")}</span>`, `<code>${report.names[s[0]]}</code>`]));
  element("by-call").innerHTML = table(["call", ...head], rows(report.byCall, s => [`<code>${report.names[s[0]]}</code>`]));
}

function showCollectives() {
  if (report.collectiveSums.length === 0) return void (element("collective-table").innerHTML = "<p>There were none.</p>");
  const rows = report.collectiveSums.map((c, i) => {
    const [collective, , algorithm] = report.algorithms[c.algorithm];
    const last = [...c.last].sort((a, b) => b[1] - a[1])[0];
    return { pick: `collective:${i}`, cells: [`<b>${escaped(collective)}</b>`, escaped(algorithm), escaped(commName(c.comm)), number(count(c.calls)),
      number(bytes(c.bytes / Math.max(1, c.calls) | 0)), number(bytes(c.bytes)), number(time(c.time)), meter([[c.time - c.waited, "mpi"], [c.waited, "wait"]], report.collectiveSums[0].time),
      last ? `rank\u00a0${last[0]} (${percent(last[1], c.calls)})` : ""] };
  });
  element("collective-table").innerHTML = table(["collective", "algorithm", "communicator", number("calls"), number("bytes each"), number("bytes"), number("time of all ranks"), "", "last came mostly"], rows, true) +
    `<p class="advice screen">Click on a row, or press Enter there, to see the teams of its algorithm.</p>`;
}

/** Shows what a chosen row stands for: the longest wait of its kind, or the tree of its algorithm. */
function pick(row) {
  const [kind, index] = row.dataset.pick.split(":");
  if (kind === "collective") {
    for (const r of document.querySelectorAll("#collective-table tr.pick")) {
      r.classList.toggle("picked", r === row);
      r.setAttribute("aria-current", r === row);
    }
    tree.sum = report.collectiveSums[index];
    return showTree();
  }
  const w = report.waits[index];
  // The part of a wait that its cause does not explain counts for the last cause.
  const last = report.causes.length - 1;
  const waited = (calls, k) => w.cause !== last ? (calls.cause[k] === w.cause ? calls.waited[k] : 0)
    : calls.cause[k] === last || calls.culprit[k] >= 0 ? calls.waited[k] - calls.caused[k] : 0;
  let best = null;
  for (const rank of w.waiting) {
    const lane = timeline.laneOf.get(rank), calls = report.lanes[lane].unpacked;
    for (let k = 0; k < calls.count; ++k)
      if (calls.name[k] === w.name && calls.place[k] === w.place && waited(calls, k) > (best ? best.waited : 0))
        best = { lane, call: k, waited: waited(calls, k) };
  }
  if (!best) return;
  element("time").scrollIntoView();
  timeline.reveal(best, true);
  timeline.pickedRow = row;
  timeline.box.focus({ preventScroll: true });
}
