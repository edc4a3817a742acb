// SPDX-License-Identifier: BSD-3-Clause
// Unpacks the numbers that mpiexec has packed (launcher/report/page.cpp defines their order), and formats values.
"use strict";

class Numbers {
  constructor(base64) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) this.bytes[i] = text.charCodeAt(i);
    this.at = 0;
  }
  more() { return this.at < this.bytes.length; }
  next() {
    let byte = this.bytes[this.at++], value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
    }
    return value;
  }
  signed() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

function unpackCalls(lane) {
  const n = lane.count, numbers = new Numbers(lane.events);
  const calls = { count: n, begin: new Float64Array(n), length: new Float64Array(n), waited: new Float64Array(n),
    name: new Uint16Array(n), place: new Uint32Array(n), times: new Uint32Array(n), cause: new Uint8Array(n),
    culprit: new Int32Array(n).fill(-1), culpritPlace: new Uint32Array(n), caused: new Float64Array(n) };
  for (let i = 0, at = 0; i < n; ++i) {
    calls.begin[i] = at += numbers.next();
    calls.length[i] = numbers.next();
    calls.waited[i] = numbers.next();
    calls.name[i] = numbers.next();
    calls.place[i] = numbers.next();
    calls.times[i] = numbers.next();
    const cause = numbers.next();
    calls.cause[i] = cause & 15;
    if (cause < 16) continue;
    calls.culprit[i] = numbers.next();
    calls.culpritPlace[i] = numbers.next();
    calls.caused[i] = numbers.next();
  }
  delete lane.events;
  return calls;
}

function unpackMessages(base64) {
  const numbers = new Numbers(base64), all = [];
  for (let at = 0; numbers.more();) {
    at += numbers.next();
    all.push({ sent: at, received: at + numbers.signed(), from: numbers.next(), to: numbers.next(),
      bytes: numbers.next(), tag: numbers.signed(), comm: numbers.next() });
  }
  return all;
}

function unpackCollectives(base64) {
  const numbers = new Numbers(base64), all = [];
  for (let at = 0; numbers.more();) {
    at += numbers.next();
    const one = { first: at, algorithm: numbers.next(), comm: numbers.next(), number: numbers.next(),
      bytes: numbers.next(), root: numbers.next() - 1, entries: [], end: at };
    for (let n = numbers.next(); n > 0; --n) {
      const rank = numbers.next(), entry = at + numbers.next(), exit = entry + numbers.next();
      one.entries.push({ rank, entry, exit });
      one.end = Math.max(one.end, exit);
    }
    one.last = one.entries[one.entries.length - 1].rank;
    all.push(one);
  }
  return all;
}

/** Returns the first index at which `values` is not below `value`. */
function lowerBound(length, valueAt, value) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function time(ns) {
  const of = (value, unit) => `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)}\u00a0${unit}`;
  if (ns < 1e3) return `${Math.round(ns)}\u00a0ns`;
  if (ns < 1e6) return of(ns / 1e3, "µs");
  if (ns < 1e9) return of(ns / 1e6, "ms");
  return of(ns / 1e9, "s");
}
function bytes(n) {
  if (n < 1024) return `${n}\u00a0B`;
  if (n < 1 << 20) return `${(n / 1024).toFixed(n < 10240 ? 1 : 0)}\u00a0KiB`;
  if (n < 2 ** 30) return `${(n / 2 ** 20).toFixed(1)}\u00a0MiB`;
  return `${(n / 2 ** 30).toFixed(1)}\u00a0GiB`;
}
function count(n) { return n.toLocaleString("en"); }
function percent(part, whole) { return whole > 0 ? `${(100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0)}\u00a0%` : "–"; }
function escaped(text) { return String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]); }
function ranks(list) {
  if (list.length === 1) return `rank\u00a0${list[0]}`;
  const runs = [];
  for (const r of [...list].sort((a, b) => a - b)) {
    const run = runs[runs.length - 1];
    if (run && run[1] === r - 1) run[1] = r;
    else runs.push([r, r]);
  }
  // A word joiner after the dash: no line ends there.
  return "ranks\u00a0" + runs.map(([a, b]) => a === b ? a : `${a}${b > a + 1 ? "–\u2060" : ", "}${b}`).join(", ");
}
function element(id) { return document.getElementById(id); }
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); }

const report = JSON.parse(element("data").textContent);
function place(number) { return number > 0 && report.places[number] ? report.places[number] : ""; }
function commName(number) {
  const comm = report.comms[number];
  return comm ? comm.name || `a communicator of ${comm.size}` : "?";
}
