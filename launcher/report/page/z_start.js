// SPDX-License-Identifier: BSD-3-Clause
// Unpacks the data and shows everything, once the page is loaded.

function start() {
  if (window.matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark");
  report.collectives = unpackCollectives(report.collectiveEvents);
  report.messages = unpackMessages(report.messageEvents);
  for (const lane of report.lanes) lane.unpacked = unpackCalls(lane);
  showHead();
  showWrong();
  showGlance();
  showWaits();
  showCalls();
  timeline.start();
  timeline.choose(null);
  showMatrix();
  showCollectives();
  const first = document.querySelector("#collective-table tr.pick");
  if (first) pick(first);
  document.addEventListener("keydown", e => {
    if (!e.ctrlKey && !e.metaKey && !e.altKey && !element("keys").open) press(e.key, e);
  });
  document.addEventListener("click", e => {
    const button = e.target.closest("[data-key]"), row = e.target.closest("[data-pick]");
    if (button) press(button.dataset.key);
    if (row) pick(row);
  });
  document.addEventListener("keydown", e => {
    if (!["Enter", " "].includes(e.key) || !document.activeElement.dataset.pick) return;
    e.preventDefault();   // Space would scroll the page
    pick(document.activeElement);
  });
  window.addEventListener("beforeprint", preparePrint);
  window.addEventListener("afterprint", endPrint);
  window.addEventListener("resize", () => { drawMatrix(); showTree(); });
  element("close-keys").onclick = () => element("keys").close();
  document.body.dataset.ready = String(report.lanes.length);
}

function showHead() {
  element("job").innerHTML = `<code>${escaped(report.command)}</code> · ${escaped(report.date)} · ${report.lanes.length} ${report.lanes.length === 1 ? "rank" : "ranks"} · ${time(report.length)} · exit code ${report.exitCode}`;
  document.title = `${report.command.replace(/^mpiexec /, "")} – Tutti report`;
  element("legend").innerHTML = [["compute", "computation"], ["mpi", "in MPI"], ["wait", "waiting"], ["never", "never ended"], ["band", "collective"]]
    .map(([name, words]) => `<span><span class="swatch" style="background:var(--${name})"></span>${words}</span>`).join("") + "<span>→ message</span>";
  const lost = report.lanes.filter(l => l.lost > 0), clocks = Math.max(0, ...report.lanes.map(l => l.clockError));
  const notes = [`Written by mpiexec of Tutti ${report.version}.`];
  if (lost.length) notes.push(`Only the last events were kept: ${ranks(lost.map(l => l.rank))} ${lost.length === 1 ? "is" : "are"} complete from ${time(Math.max(...lost.map(l => l.completeFrom)))} on (grey before); --report-events keeps more.`);
  if (clocks > 0) notes.push(`Clocks of other nodes were compared with this one's; times there may be wrong by up to ${time(clocks)}.`);
  if (report.unmatched > 0) notes.push(`Of ${count(report.unmatched)} messages only one end is known: the other one was not recorded, or they were never received.`);
  element("foot").innerHTML = notes.map(n => `<p>${escaped(n)}</p>`).join("");
}

document.addEventListener("DOMContentLoaded", start);
