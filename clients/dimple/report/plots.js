"use strict";
// What the parts of the page share, the timeline and the memory.

const report = JSON.parse(document.getElementById("report").textContent);

// An element with attributes and children; what begins with "on" is a listener.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units, step) {
  let unit = 0;
  while (unit + 1 < units.length && value >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  return (unit === 0 && Number.isInteger(value) ? String(value) : digits(value)) + "\u00a0" + units[unit];
}

const timeText = nanoseconds => scaled(Math.round(nanoseconds), ["ns", "µs", "ms", "s"], 1000);
const bytesText = bytes => scaled(bytes, ["B", "kB", "MB", "GB", "TB"], 1000);
const speedText = bytesPerSecond => scaled(bytesPerSecond, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], 1000);
const percentText = share => (100 * share >= 9.95 ? (100 * share).toFixed(0) : (100 * share).toFixed(1)) + "\u00a0%";
const countText = (count, noun) => `${count} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
const shortened = (text, length) => text.length <= length ? text : text.slice(0, Math.max(1, length - 1)) + "…";

// The width inside an element's padding.
function insideOf(element) {
  const style = getComputedStyle(element);
  return element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
}

// ---- what a pointer is over ----

const tip = make("div", { id: "tip" });
document.body.append(tip);

function showTip(event, text) {
  tip.textContent = text;
  tip.style.display = "block";
  const { offsetWidth: width, offsetHeight: height } = tip;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8)) + "px";
  tip.style.top = (event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18) + "px";
}

function withTip(selection, text) {
  selection.on("mousemove", (event, d) => showTip(event, text(d))).on("mouseleave", () => { tip.style.display = "none"; });
}

// ---- dispatches that were timed ----

const timed = [];
const runs = [];
// A dispatch stands where the device executed it, but of longer times without one no more than this is drawn.
const busyTime = d3.sum(report.runs, run => d3.sum(run.nanoseconds));
const longestWait = busyTime / 50;
const waits = [];
let idleTime = 0;
let endOfTime = 0;  // on the page
let shift = null;   // from the page to the device
for (const [number, run] of report.runs.entries()) {
  const graph = report.graphs[run.graph];
  const list = run.initialization ? graph.initialization : graph.execution;
  const first = timed.length;
  run.nanoseconds.forEach((nanoseconds, index) => {
    const dispatch = list[index];
    shift ??= run.begins[index];
    const wait = run.begins[index] - shift - endOfTime;
    idleTime += Math.max(0, wait);
    if (wait > longestWait) {
      waits.push({ start: endOfTime, shown: longestWait, nanoseconds: wait });
      shift += wait - longestWait;
    }
    const start = run.begins[index] - shift;
    timed.push({
      ...dispatch, index, nanoseconds, start, run: number, graph: run.graph, initialization: run.initialization,
      number: timed.length, bytes: dispatch.bytesRead + dispatch.bytesWritten,
      workgroups: dispatch.groups.reduce((a, b) => a * b, 1),
    });
    endOfTime = Math.max(endOfTime, start + nanoseconds);
  });
  const name = (graph.part ? graph.part + ": " : "") + graph.name + (run.initialization ? ", initialization" : "");
  const start = d3.min(timed.slice(first), d => d.start);
  runs.push({ name, start, nanoseconds: endOfTime - start, busy: d3.sum(run.nanoseconds), graph: run.graph, number });
}
const nameOf = dispatch => dispatch.label || dispatch.kernel;
const copyShare = d => report.copy.bytesPerSecond && d.nanoseconds ? d.bytes / d.nanoseconds * 1e9 / report.copy.bytesPerSecond : 0;

// Kernels by the time that they take, with a colour each.
const kernels = d3.rollups(timed, list => ({ time: d3.sum(list, d => d.nanoseconds), count: list.length }), d => d.kernel)
  .map(([kernel, sums]) => ({ kernel, ...sums })).sort((a, b) => b.time - a.time);
const kLanes = 9;
const otherColor = "#8a94a3";
const colorOf = new Map(kernels.map(({ kernel }, i) => [kernel, i < kLanes ? d3.schemeTableau10[i] : otherColor]));

function tipOf(d) {
  const lines = [nameOf(d), d.label ? d.kernel : "", `${timeText(d.nanoseconds)}, ${percentText(d.nanoseconds / busyTime)} of all`,
    `${bytesText(d.bytes)} at ${speedText(d.bytes / d.nanoseconds * 1e9)}, ${percentText(copyShare(d))} of a copy`,
    `${d.workgroups} workgroups of ${d.groupSize}`];
  return lines.filter(line => line).join("\n");
}

// ---- the timeline: a lane for each kernel ----

function drawTimeline(host, choose) {
  host.replaceChildren();
  const width = Math.max(640, insideOf(host)), left = 230, right = 180, laneHeight = 24;
  const lanes = kernels.slice(0, kLanes);
  if (kernels.length > kLanes) {
    const rest = kernels.slice(kLanes);
    lanes.push({ kernel: countText(rest.length, "other kernel"), time: d3.sum(rest, k => k.time), count: d3.sum(rest, k => k.count) });
  }
  const laneOf = new Map(kernels.map(({ kernel }, i) => [kernel, Math.min(i, kLanes)]));
  const hasRuns = runs.length > 1;
  const top = 26 + (hasRuns ? 26 : 0), height = top + lanes.length * laneHeight + 6;
  const svg = d3.create("svg").attr("width", width).attr("height", height);
  const all = d3.scaleLinear([0, endOfTime || 1], [left, width - right]);
  svg.append("clipPath").attr("id", "lanes").append("rect").attr("x", left).attr("width", width - left - right).attr("height", height);
  const axis = svg.append("g").attr("transform", "translate(0,22)");
  lanes.forEach((lane, i) => {
    const y = top + i * laneHeight;
    svg.append("line").attr("x1", 0).attr("x2", width).attr("y1", y + laneHeight).attr("y2", y + laneHeight).attr("stroke", "var(--line)");
    svg.append("rect").attr("x", 2).attr("y", y + 7).attr("width", 10).attr("height", 10).attr("rx", 2)
      .attr("fill", colorOf.get(lane.kernel) ?? otherColor);
    svg.append("text").attr("x", 18).attr("y", y + 16).text(shortened(lane.kernel, 30)).append("title").text(lane.kernel);
    for (const [from, text] of [[122, `${lane.count} ×`], [54, timeText(lane.time)], [2, percentText(lane.time / busyTime)]])
      svg.append("text").attr("class", "quiet").attr("x", width - from).attr("y", y + 16).attr("text-anchor", "end").text(text);
  });
  const plot = svg.append("g").attr("clip-path", "url(#lanes)");
  if (hasRuns) svg.append("text").attr("class", "quiet").attr("x", 18).attr("y", 43).text("graphs");
  const strips = plot.selectAll(null).data(hasRuns ? runs : []).join("rect").attr("class", "mark").attr("y", 30).attr("height", 17)
    .attr("fill", "var(--bar-back)").attr("stroke", "var(--back)").on("click", (event, r) => choose.graph(r.graph));
  const stripNames = plot.selectAll(null).data(hasRuns ? runs : []).join("text").attr("y", 43).attr("pointer-events", "none");
  withTip(strips, r => `${r.name}\n${timeText(r.busy)}`);
  const gaps = plot.selectAll(null).data(waits).join("rect").attr("class", "wait").attr("y", 26).attr("height", height - 32)
    .attr("fill", "var(--bar-back)");
  withTip(gaps, w => `No dispatch for ${timeText(w.nanoseconds)}, shortened`);
  const marks = plot.selectAll(null).data(timed).join("rect").attr("class", "mark").attr("y", d => top + laneOf.get(d.kernel) * laneHeight + 4)
    .attr("height", laneHeight - 8).attr("rx", 1.5).attr("fill", d => colorOf.get(d.kernel)).on("click", (event, d) => choose.dispatch(d));
  withTip(marks, tipOf);
  const place = x => {
    axis.call(d3.axisTop(x).ticks(Math.max(2, (width - left - right) / 110)).tickFormat(timeText).tickSizeOuter(0));
    marks.attr("x", d => x(d.start)).attr("width", d => Math.max(0.7, x(d.start + d.nanoseconds) - x(d.start) - 0.4));
    strips.attr("x", r => x(r.start)).attr("width", r => Math.max(0.7, x(r.start + r.nanoseconds) - x(r.start)));
    gaps.attr("x", w => x(w.start)).attr("width", w => x(w.start + w.shown) - x(w.start));
    stripNames.attr("x", r => Math.max(left, x(r.start)) + 4)
      .text(r => shortenedTo(r.name, Math.min(width - right, x(r.start + r.nanoseconds)) - Math.max(left, x(r.start)) - 8));
  };
  place(all);
  const zoom = d3.zoom().scaleExtent([1, 10000]).extent([[left, 0], [width - right, height]])
    .translateExtent([[left, 0], [width - right, height]])
    .filter(event => event.type === "wheel" ? event.ctrlKey || event.metaKey : !event.button)
    .on("zoom", event => place(event.transform.rescaleX(all)));
  svg.call(zoom).on("dblclick.zoom", () => svg.call(zoom.transform, d3.zoomIdentity));
  host.append(svg.node());
  return { zoomBy: factor => svg.call(zoom.scaleBy, factor), all: () => svg.call(zoom.transform, d3.zoomIdentity) };
}

const pen = document.createElement("canvas").getContext("2d");

function textWidth(text, style = "12px") {
  pen.font = `${style} system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;
  return pen.measureText(text).width;
}

// As much of a text as fits some pixels of the page's font; nothing of less than four characters.
function shortenedTo(text, pixels) {
  let length = text.length;
  while (length > 3 && textWidth(shortened(text, length)) > pixels)
    length = Math.min(length - 1, Math.ceil(length * pixels / textWidth(text)) + 2);
  return length < 4 && length < text.length ? "" : shortened(text, length);
}

// ---- the temporary resource over dispatches ----

function drawMemory(host, graph) {
  host.replaceChildren();
  const { temporary, temporaryBlocks: blocks } = graph.memory;
  if (!temporary || !blocks.length) {
    host.append(make("p", { class: "quiet" }, "Execution takes no temporary memory."));
    return;
  }
  const width = Math.max(420, insideOf(host)), left = 74, right = 22, top = 8, bottom = 40;
  const height = Math.max(200, Math.min(360, 60 + 14 * blocks.length));
  const svg = d3.create("svg").attr("width", width).attr("height", height);
  const x = d3.scaleLinear([0, graph.execution.length], [left, width - right]);
  const y = d3.scaleLinear([0, temporary], [height - bottom, top]);
  svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5).tickFormat(bytesText));
  svg.append("g").attr("transform", `translate(0,${height - bottom})`)
    .call(d3.axisBottom(x).ticks(Math.min(12, graph.execution.length)).tickFormat(v => Number.isInteger(v) ? v : ""));
  svg.append("text").attr("class", "quiet").attr("x", (left + width - right) / 2).attr("y", height - 6).attr("text-anchor", "middle")
    .text("dispatch");
  const colors = d3.schemeTableau10;
  const marks = svg.append("g").selectAll(null).data(blocks).join("rect").attr("class", "mark")
    .attr("x", b => x(b.first)).attr("width", b => Math.max(1, x(b.last + 1) - x(b.first) - 1))
    .attr("y", b => y(b.offset + b.bytes)).attr("height", b => Math.max(1, y(b.offset) - y(b.offset + b.bytes) - 0.5))
    .attr("rx", 2).attr("fill", (b, i) => colors[i % colors.length]).attr("fill-opacity", 0.78);
  withTip(marks, b => `${b.label}\n${bytesText(b.bytes)} from byte ${b.offset} on\n` +
    (b.first === b.last ? `in dispatch ${b.first}` : `from dispatch ${b.first} to dispatch ${b.last}`));
  svg.append("g").attr("pointer-events", "none").selectAll(null)
    .data(blocks.filter(b => y(b.offset) - y(b.offset + b.bytes) >= 15)).join("text")
    .attr("x", b => x(b.first) + 5).attr("y", b => (y(b.offset) + y(b.offset + b.bytes)) / 2 + 4)
    .text(b => shortenedTo(b.label, x(b.last + 1) - x(b.first) - 10));
  host.append(svg.node());
}

// The most bytes of blocks that are in use at once.
function mostUsed(graph) {
  const changes = new Array(graph.execution.length + 1).fill(0);
  for (const block of graph.memory.temporaryBlocks) {
    changes[block.first] += block.bytes;
    changes[block.last + 1] -= block.bytes;
  }
  return d3.max(d3.cumsum(changes)) ?? 0;
}
