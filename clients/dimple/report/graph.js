"use strict";
// A graph before and after passes, side by side.

const kDrawnNodes = 200;  // at once
const kHues = 14;

const firstName = label => label.split(" with ")[0].replace(/ \([A-Z0-9_]+\)$/, "");

// The nodes of one side that are drawn, with what flows in and out of the graph as nodes of their own.
function visibleNodes(side, page, withOnce) {
  const kept = side.nodes.map((node, number) => ({ ...node, number })).filter(node => withOnce || !node.initialization);
  const shown = kept.slice(page * kDrawnNodes, (page + 1) * kDrawnNodes);
  const ids = new Set(shown.map(node => node.number));
  const slots = new Map();
  const edges = [];
  for (const edge of side.edges) {
    if (edge.constant && !withOnce) continue;
    const from = edge.input !== undefined ? "input " + edge.input : edge.from;
    const to = edge.output !== undefined ? "output " + edge.output : edge.to;
    if ((typeof from === "number" && !ids.has(from)) || (typeof to === "number" && !ids.has(to))) continue;
    if (edge.input !== undefined) slots.set(from, edge.input);
    if (edge.output !== undefined) slots.set(to, edge.output);
    edges.push({ from, to, tensor: edge.tensor });
  }
  return { shown, slots, edges, pages: Math.max(1, Math.ceil(kept.length / kDrawnNodes)), count: kept.length };
}

function layOut({ shown, slots, edges }) {
  const layout = new dagre.graphlib.Graph({ multigraph: true });
  layout.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30, marginx: 8, marginy: 8 });
  layout.setDefaultEdgeLabel(() => ({}));
  for (const node of shown) {
    const title = shortened(firstName(node.label), 30);
    const more = (node.from?.length ?? 1) - 1;
    const second = shortened(`${node.operator.toLowerCase()} ${node.tensor}`, 44);
    const first = more > 0 ? `${title} + ${more} more` : title;
    layout.setNode(String(node.number), { width: 20 + Math.max(60, textWidth(first, "600 12px"), textWidth(second, "10.5px")), height: 42, node, first, second });
  }
  for (const [id, name] of slots) layout.setNode(id, { width: 22 + textWidth(shortened(name, 30)), height: 24, slot: name });
  edges.forEach((edge, i) => layout.setEdge(String(edge.from), String(edge.to), { tensor: edge.tensor }, String(i)));
  dagre.layout(layout);
  return layout;
}

// `view`: how nodes look and what is said of them.
function drawSide(host, visible, view) {
  host.replaceChildren();
  if (!visible.shown.length) {
    host.append(make("p", { class: "quiet" }, "Nothing is left to execute."));
    return;
  }
  const layout = layOut(visible);
  const { width, height } = layout.graph();
  const scale = Math.max(0.6, Math.min(1, (host.clientWidth - 12) / width));
  const svg = d3.create("svg").attr("width", width * scale).attr("height", height * scale).attr("viewBox", `0 0 ${width} ${height}`);
  svg.append("defs").append("marker").attr("id", "tip-" + view.name).attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
    .attr("markerWidth", 6).attr("markerHeight", 6).attr("orient", "auto")
    .append("path").attr("d", "M0,0L8,4L0,8z").attr("fill", "var(--quiet)");
  const line = d3.line(p => p.x, p => p.y).curve(d3.curveBasis);
  const edges = svg.append("g").selectAll(null).data(layout.edges().map(e => layout.edge(e))).join("path").attr("class", "edge")
    .attr("d", e => line(e.points)).attr("marker-end", `url(#tip-${view.name})`);
  withTip(edges, e => e.tensor ?? "output");
  const boxes = layout.nodes().map(id => layout.node(id));
  const groups = svg.append("g").selectAll(null).data(boxes).join("g")
    .attr("transform", b => `translate(${b.x - b.width / 2},${b.y - b.height / 2})`)
    .attr("class", b => "node " + (b.slot ? "slot" : view.classOf(b.node)));
  groups.append("rect").attr("class", "box").attr("width", b => b.width).attr("height", b => b.height).attr("rx", b => b.slot ? 12 : 5)
    .style("fill", b => b.slot ? null : view.fillOf(b.node));
  groups.filter(b => b.slot).append("text").attr("x", b => b.width / 2).attr("y", 16).attr("text-anchor", "middle")
    .text(b => shortened(b.slot, 30));
  const nodes = groups.filter(b => !b.slot);
  nodes.append("text").attr("x", 9).attr("y", 17).attr("font-weight", 600).text(b => b.first);
  nodes.append("text").attr("x", 9).attr("y", 32).attr("class", "quiet").attr("font-size", 10.5).text(b => b.second);
  nodes.filter(b => view.shareOf(b.node) > 0).append("rect").attr("x", 5).attr("y", b => b.height - 5).attr("height", 3).attr("rx", 1.5)
    .attr("width", b => (b.width - 10) * view.shareOf(b.node)).style("fill", "var(--low)").style("stroke", "none");
  withTip(nodes, b => view.tipOf(b.node));
  nodes.on("mouseenter", (event, b) => view.light(b.node)).on("mouseout.light", () => view.light(null)).on("click", (event, b) => view.choose(b.node));
  host.append(svg.node());
  const first = boxes.find(b => b.slot) ?? boxes[0];
  host.scrollLeft = first.x * scale - host.clientWidth / 2;
  view.lit = ids => groups.classed("lit", b => !b.slot && ids.has(b.node.number));
}

function pager(state, pages, count, redraw) {
  if (pages < 2) return null;
  const move = step => () => {
    state.page += step;
    redraw();
  };
  return make("span", { class: "bar" }, make("button", { onclick: move(-1), disabled: state.page === 0 ? "" : undefined }, "‹ earlier"),
    `nodes ${state.page * kDrawnNodes + 1} to ${Math.min(count, (state.page + 1) * kDrawnNodes)} of ${count}`,
    make("button", { onclick: move(1), disabled: state.page + 1 === pages ? "" : undefined }, "later ›"));
}

function fateOf(graph, node) {
  if (node.takenOutBy) {
    const pass = graph.passes.find(p => p.name === node.takenOutBy);
    return `Taken out by the pass ${pass.name}: ${pass.does}`;
  }
  if (node.into === undefined) return "";
  const after = graph.after.nodes[node.into];
  if (after.initialization) return "Executes once, at initialization.";
  return after.from.length > 1 ? `One with ${after.from.length - 1} more: ${after.label}` : "";
}

// `tint`: of nodes that execute as one; `once`: the box that shows what executes once. Null: there are none.
function legendOf(graph, tint, once) {
  const legend = [];
  const swatch = (style, kind = "") => make("span", { class: "swatch" + kind, style });
  if (tint) legend.push(make("span", {}, swatch(`background:${tint}`), "nodes of one colour execute as one"));
  if (graph.before.nodes.some(node => node.takenOutBy)) legend.push(make("span", {}, swatch("", " out"), "taken out by a pass"));
  legend.push(make("span", {}, swatch("background:var(--low);height:4px;vertical-align:3px"), "time"));
  if (once) legend.push(make("label", {}, once, " show constants, and nodes that execute once"));
  return legend;
}

// `host` gets the sides; `choose` is told the number of a node after passes.
function drawGraphs(host, graph, number, choose) {
  host.replaceChildren();
  const after = graph.after ?? graph.before;
  const fused = after.nodes.map((node, i) => ({ node, i })).filter(({ node }) => !node.initialization && (node.from?.length ?? 1) > 1);
  const hue = new Map(fused.map(({ i }, at) => [i, (at % kHues) * 360 / kHues]));
  const tint = at => hue.has(at) ? `color-mix(in oklab, hsl(${hue.get(at)} 75% 55%) 38%, var(--node))` : null;
  const times = new Map();
  for (const d of timed)
    if (d.graph === number && !d.initialization && d.node !== undefined) times.set(d.node, (times.get(d.node) ?? 0) + d.nanoseconds);
  const longest = Math.max(1, ...times.values());
  const states = { before: { page: 0 }, after: { page: 0 } };
  let withOnce = false;
  const views = {
    before: {
      name: "before", classOf: node => node.takenOutBy ? "out" : isOnce(node) ? "once" : "", fillOf: node => tint(node.into),
      shareOf: () => 0, tipOf: node => `${node.label}\n${node.operator} ${node.tensor}\n${fateOf(graph, node)}`.trim(),
      light: node => light(node?.into), choose: node => node.into !== undefined && choose(node.into),
    },
    after: {
      name: "after", classOf: node => isOnce(node) ? "once" : "", fillOf: node => tint(node.number),
      shareOf: node => (times.get(node.number) ?? 0) / longest,
      tipOf: node => `${node.label.split(" with ").join("\nwith ")}\n${node.operator} ${node.tensor}\n` +
        (times.has(node.number) ? timeText(times.get(node.number)) : isOnce(node) ? "Executes once, at initialization." : "It takes no dispatch."),
      light: node => light(node?.number), choose: node => choose(node.number),
    },
  };
  const isOnce = node => node.initialization || (node.into !== undefined && after.nodes[node.into].initialization);
  const light = at => {
    views.before.lit?.(new Set(graph.before.nodes.flatMap((node, i) => at !== undefined && (graph.after ? node.into : i) === at ? [i] : [])));
    views.after.lit?.(new Set(at === undefined ? [] : [at]));
  };
  const sides = graph.after ? ["before", "after"] : ["before"];
  if (!graph.after) views.before = { ...views.after, name: "before" };
  const columns = make("div", { class: "columns" });
  const drawings = sides.map(name => {
    const title = make("h3"), paging = make("span"), box = make("div", { class: "scroll" });
    columns.append(make("div", { class: "panel", id: "graph-" + name }, make("div", { class: "bar" }, title, paging), box));
    return () => {
      const visible = visibleNodes(graph[name], states[name].page, withOnce);
      const what = graph.after ? (name === "before" ? "As described" : "As executed") : "One by one";
      title.textContent = `${what}: ${countText(visible.count, "node")}`;
      paging.replaceChildren(pager(states[name], visible.pages, visible.count, drawings[sides.indexOf(name)]) ?? "");
      drawSide(box, visible, views[name]);
    };
  });
  const once = make("input", { type: "checkbox", onchange: event => {
    withOnce = event.target.checked;
    states.before.page = states.after.page = 0;
    drawings.forEach(draw => draw());
  } });
  const hasOnce = graph.before.nodes.some(isOnce) || after.nodes.some(isOnce) || graph.before.edges.some(edge => edge.constant);
  const legend = legendOf(graph, fused.length ? tint(fused[0].i) : null, hasOnce ? once : null);
  host.append(make("div", { class: "bar quiet" }, ...legend), columns);
  drawings.forEach(draw => draw());
}
