"use strict";
// The page: a part for each question that is asked of a run.

const plots = document.getElementById("plots");

function part(title, sentence, ...children) {
  plots.append(make("section", {}, make("h2", {}, title), make("p", { class: "quiet" }, sentence), ...children));
}

function drawHeader() {
  plots.append(make("p", { class: "quiet" }, `${report.device}, ${report.backend === "d3d12" ? "Direct3D 12" : "Vulkan"}. Dimple ${report.version}.`));
  const executed = timed.filter(d => !d.initialization);
  const once = timed.filter(d => d.initialization);
  const nodes = d3.sum(report.graphs, g => g.before.nodes.filter(n => n.operator !== "constant").length);
  const time = d3.sum(executed, d => d.nanoseconds), bytes = d3.sum(executed, d => d.bytes);
  const tile = (value, what) => make("div", { class: "tile" }, make("b", {}, value), make("span", {}, what));
  const largest = key => d3.max(report.graphs, g => g.memory[key]) ?? 0;
  const tiles = [
    tile(timeText(time), "on the device"),
    tile(executed.length, `${executed.length === 1 ? "dispatch" : "dispatches"} of ${countText(nodes, "node")}`),
    tile(bytesText(bytes), `moved, ${speedText(time ? bytes / time * 1e9 : 0)}`),
    tile(percentText(time ? bytes / time * 1e9 / report.copy.bytesPerSecond : 0), `of a copy's ${speedText(report.copy.bytesPerSecond)}`),
    tile(bytesText(largest("temporary")), "of temporary memory"),
    tile(bytesText(d3.sum(report.graphs, g => g.memory.persistent)), "of persistent memory"),
  ];
  if (once.length) tiles.push(tile(timeText(d3.sum(once, d => d.nanoseconds)), `initialization, ${countText(once.length, "dispatch")}`));
  plots.append(make("div", { class: "tiles" }, ...tiles));
}

// ---- dispatches ----

const kShownRows = 12;

// What limits a dispatch, as far as its numbers tell.
function limitOf(d) {
  const share = copyShare(d);
  if (share >= 0.6) return "Memory limits it: it moves its bytes about as fast as a copy.";
  if (d.nanoseconds < 4 * report.copy.leastNanoseconds)
    return `Latency limits it: copying one element takes ${timeText(report.copy.leastNanoseconds)}. Fewer dispatches would help.`;
  if (d.workgroups < report.deviceWorkgroups)
    return `It has ${countText(d.workgroups, "workgroup")}, and ${report.deviceWorkgroups} keep the device busy.`;
  return "Arithmetic or the order of its accesses limits it, not the amount of memory.";
}

function detailsOf(d) {
  const graph = report.graphs[d.graph];
  const after = (graph.after ?? graph.before).nodes[d.node];
  const from = graph.after && after?.from?.length ? after.from.map(n => graph.before.nodes[n].label) : [];
  const facts = [
    `Dispatch ${d.index} of the ${graph.part ? graph.part + "'s " : ""}${graph.name}${d.initialization ? ", at initialization" : ""}.`,
    from.length > 1 ? `Executes ${from.length} nodes: ${from.join(", ")}.` : "",
    `Reads ${bytesText(d.bytesRead)}, writes ${bytesText(d.bytesWritten)}.`,
    `${d.groups.join(" × ")} workgroups of ${d.groupSize} invocations${d.barrier ? ", behind a barrier" : ""}.`,
    limitOf(d),
  ];
  return facts.filter(fact => fact).join(" ");
}

const columns = [
  { title: "dispatch", key: nameOf, cell: d => make("td", { class: "name", title: nameOf(d) }, nameOf(d)) },
  { title: "kernel", key: d => d.kernel, cell: d => make("td", {}, make("span", { class: "swatch", style: `background:${colorOf.get(d.kernel)}` }), d.kernel) },
  { title: "time", number: true, key: d => d.nanoseconds, cell: d => number(timeText(d.nanoseconds)) },
  { title: "of all", number: true, key: d => d.nanoseconds, cell: d => meter(d.nanoseconds / busyTime, "var(--low)") },
  { title: "bytes", number: true, key: d => d.bytes, cell: d => number(bytesText(d.bytes)) },
  { title: "speed", number: true, key: d => d.bytes / d.nanoseconds, cell: d => number(speedText(d.bytes / d.nanoseconds * 1e9)) },
  { title: "of a copy", number: true, key: copyShare, cell: d => meter(copyShare(d), "var(--bar)") },
  { title: "workgroups", number: true, key: d => d.workgroups, cell: d => number(d.workgroups) },
];
const number = text => make("td", { class: "r" }, String(text));
const meter = (share, color) => make("td", { class: "r" }, percentText(share),
  make("span", { class: "meter" }, make("i", { style: `width:${100 * Math.min(1, share)}%;background:${color}` })));

const dispatchTable = { body: make("tbody", { id: "dispatches" }), by: columns[2], all: false, chosen: null };

function drawRows() {
  const { body, by, all, chosen } = dispatchTable;
  const sorted = d3.sort(timed, (a, b) => by.number ? by.key(b) - by.key(a) : d3.ascending(by.key(a), by.key(b)));
  const shown = all ? sorted : sorted.slice(0, kShownRows);
  if (chosen && !shown.includes(chosen)) shown.push(chosen);
  body.replaceChildren(...shown.flatMap(d => {
    const row = make("tr", { class: d === chosen ? "row chosen" : "row", onclick: () => chooseDispatch(d === chosen ? null : d) }, ...columns.map(c => c.cell(d)));
    return d === chosen ? [row, make("tr", { class: "more" }, make("td", { colspan: columns.length }, detailsOf(d)))] : [row];
  }));
}

function chooseDispatch(d, scroll) {
  dispatchTable.chosen = d;
  drawRows();
  d3.selectAll("svg .mark").classed("chosen", mark => d !== null && mark === d);
  if (d && scroll) dispatchTable.body.querySelector(".chosen").scrollIntoView({ block: "center", behavior: "smooth" });
}

function drawDispatches() {
  const head = make("tr", {}, ...columns.map(c => make("th", { class: (c.number ? "r " : "") + "sort", onclick: () => {
    dispatchTable.by = c;
    drawRows();
  } }, c.title)));
  const more = make("button", { onclick: () => {
    dispatchTable.all = !dispatchTable.all;
    more.textContent = dispatchTable.all ? "Show fewer" : `Show all ${timed.length}`;
    drawRows();
  } }, `Show all ${timed.length}`);
  part("Slowest dispatches", "A click on a row says what it executes and what limits it. A copy of 64 MB in the same run is what speeds are " +
    "compared with; data that stays in caches may be faster. Bytes are counted once, however often a kernel reads them.",
    make("div", { class: "wide" }, make("table", {}, make("thead", {}, head), dispatchTable.body)),
    timed.length > kShownRows ? make("p", {}, more) : null);
  drawRows();
}

// ---- graphs ----

function graphPart(chosen) {
  const host = make("div"), memory = make("div", { class: "panel" }), kinds = make("div"), passes = make("div");
  const label = (graph, i) => `${graph.part ? graph.part + ": " : ""}${graph.name}, ${timeText(d3.sum(timed, d => d.graph === i && !d.initialization ? d.nanoseconds : 0))}`;
  const options = report.graphs.map((graph, i) => make("option", { value: i }, label(graph, i)));
  const select = make("select", { id: "graph", onchange: () => show(Number(select.value)) }, ...options);
  const show = i => {
    select.value = i;
    const graph = report.graphs[i];
    drawGraphs(host, graph, i, node => {
      const found = d3.greatest(timed.filter(d => d.graph === i && d.node === node), d => d.nanoseconds);
      if (found) chooseDispatch(found, true);
    });
    drawPasses(passes, graph);
    drawKinds(kinds, graph);
    drawMemory(memory, graph);
  };
  const several = report.graphs.length > 1;
  part("Graph", report.graphs.some(g => g.after)
    ? "What was described, and what passes made of it. A node under the pointer lights up on both sides; a click leads to its dispatch."
    : "The operators executed one by one, connected where one read what another had written. With --graph they are compiled as one.",
    several ? make("p", {}, make("label", {}, "Graph: ", select)) : null, host, passes);
  part("Memory", "What lies where in the temporary resource, from the dispatch that writes it to the last that reads it.",
    make("div", { class: "side" }, memory, kinds));
  show(chosen);
  return show;
}

function drawPasses(host, graph) {
  host.replaceChildren();
  const active = (graph.passes ?? []).filter(pass => pass.before !== pass.after);
  if (!active.length) return;
  host.append(make("div", { class: "wide" }, make("table", { id: "passes" },
    make("tr", {}, make("th", {}, "pass"), make("th", {}, "what it does"), make("th", { class: "r" }, "nodes that execute")),
    ...active.map(pass => make("tr", {}, make("td", {}, pass.name), make("td", { style: "white-space:normal" }, pass.does),
      number(`${pass.before} → ${pass.after}`))))));
}

function drawKinds(host, graph) {
  const sum = role => d3.sum(graph.bindings, b => b.role === role ? b.bytes : 0);
  const used = mostUsed(graph);
  const rows = [["temporary", graph.memory.temporary], ["… most in use at once", used], ["persistent", graph.memory.persistent], ["inputs", sum("input")],
    ["outputs", sum("output")], ["buffers", sum("buffer")], ["constants", sum("constant")], ["owned inputs, for initialization", sum("owned")],
    ["temporary, at initialization", graph.memory.initialization]].filter(row => row[1] > 0);
  const most = d3.max(rows, row => row[1]);
  const table = make("table", { id: "kinds" }, ...rows.map(([name, bytes]) => make("tr", {}, make("td", {}, name), number(bytesText(bytes)),
    make("td", {}, make("span", { class: "meter" }, make("i", { style: `width:${100 * bytes / most}%` }))))));
  const blocks = graph.memory.persistentBlocks.slice(0, 6);
  const kept = blocks.length ? make("table", {}, make("tr", {}, make("th", {}, "largest in persistent memory, read by"), make("th", { class: "r" }, "bytes")),
    ...blocks.map(b => make("tr", {}, make("td", { class: "name", title: b.label }, shortened(b.label, 44)), number(bytesText(b.bytes))))) : null;
  host.replaceChildren(table, ...(kept ? [make("p"), kept] : []));
}

// ---- tensors and text ----

function plain(value) {
  if (typeof value !== "number") return value;
  const size = Math.abs(value);
  return size >= 1e7 || (size > 0 && size < 1e-4) ? value.toExponential(4) : String(Number(value.toPrecision(6)));
}

function tensorCard(tensor) {
  const { picture } = tensor;
  const lines = [make("h3", {}, `${tensor.role}: ${tensor.name}`), make("div", { class: "quiet" }, `${tensor.type} [${tensor.sizes.join(", ")}]`)];
  if (tensor.least !== undefined)
    lines.push(make("div", { class: "quiet" }, `from ${plain(tensor.least)} to ${plain(tensor.greatest)}, mean ${plain(tensor.mean)}`));
  if (tensor.nans) lines.push(make("div", {}, `${tensor.nans} NaN`));
  if (picture?.black !== undefined && !(picture.black === 0 && (picture.white === 1 || picture.white === 255)))
    lines.push(make("div", { class: "quiet" }, `shown from ${plain(picture.black)}, black, to ${plain(picture.white)}, white`));
  const image = picture ? make("img", { src: picture.source, alt: tensor.name, width: Math.max(96, Math.min(picture.width, 640)) }) : null;
  return make("div", { class: "panel card" }, image, ...lines);
}

function drawTensors() {
  if (!report.tensors.length) return;
  part("Inputs and outputs", "A tensor of one, three or four channels of at least 16 rows and columns is shown as a picture.", make("div", { class: "cards" }, ...d3.sort(report.tensors, t => t.picture ? 0 : 1).map(tensorCard)));
}

function drawLines() {
  if (!report.lines.length) return;
  part("Text", "The lines that were read, with the confidence of each.", make("table", {},
    ...report.lines.map(line => make("tr", {}, number(line.confidence.toFixed(3)), make("td", { style: "white-space:normal" }, line.text)))));
}

function drawPage() {
  drawHeader();
  const host = make("div", { class: "panel", id: "timeline" });
  let showGraph = () => {};
  let timeline = null;
  const act = name => () => name === "all" ? timeline.all() : timeline.zoomBy(name);
  part("Timeline", `Dispatches when the device executed them, a lane for each kernel. Between them it executed none for ${timeText(idleTime)}. ` +
    (waits.length ? "Grey stripes are such times, shortened. " : "") + "Dragging moves, Ctrl and the wheel zoom.",
    make("div", { class: "bar" }, make("button", { onclick: act(2) }, "Zoom in"), make("button", { onclick: act(0.5) }, "Zoom out"), make("button", { onclick: act("all") }, "All")), host);
  const draw = () => { timeline = drawTimeline(host, { dispatch: d => chooseDispatch(d, true), graph: i => showGraph(i) }); };
  draw();
  drawDispatches();
  const times = d3.rollup(timed, list => d3.sum(list, d => d.nanoseconds), d => d.graph);
  if (report.graphs.length) showGraph = graphPart(d3.greatest(d3.range(report.graphs.length), i => times.get(i) ?? 0));
  drawTensors();
  drawLines();
  if (report.others.length)
    part("Other dispatches", `${countText(report.others.length, "dispatch")} of no graph took ${timeText(d3.sum(report.others, o => o.nanoseconds))}.`);
  let waiting = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
}

drawPage();
