// Draws the charts and pictures of the report from its data; the tables do not need this script.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent), runs = data.runs, first = runs[0];
  const make = (name, text, attributes) => Object.assign(document.createElement(name), { textContent: text || "", ...attributes });
  const topology = document.getElementById("topology");
  if (topology && first.scenario.nodes.length) {
    topology.textContent = "";
    drawTopology(topology, first.scenario.nodes, first.scenario.links,
      `${first.scenario.nodes.length} nodes and ${first.scenario.links.length} links`, first.positions, linkNotes());
  }
  const flows = document.getElementById("flows");
  if (flows) {
    flows.textContent = "";
    if (typeof uPlot === "undefined") {
      flows.append(make("p", "No charts: this Viaduct was built without uPlot (setup/uplot).", { className: "failed" }));
    } else {
      const count = Math.max(...runs.map((run) => run.flows.length));
      const tools = make("p", "", { className: "tools" });
      for (const [text, action] of [["zoom in", () => zoomBy(0.5)], ["zoom out", () => zoomBy(2)], ["all", resetZoom]]) {
        tools.append(make("button", text, { onclick: action }), " ");
      }
      tools.append(make("span", "Drag over a chart to zoom; click a name to hide its line. Red: the times at which lost packets were sent, or, for a flow with continuous loss, the lost packets per second. Dashed: events.", { className: "note" }));
      flows.append(tools);
      let drawn = 0;
      for (let i = 0; i < count; i++) {
        const spec = flowChart(runs, i);
        if (!spec.series.some((one) => one.points.length || one.lost.length)) continue;
        flows.append(make("h3", `${spec.name}: ${spec.what}`));
        const place = make("div", "", { className: "chart" });
        flows.append(place);
        drawChart(place, spec);
        drawn++;
      }
      if (!drawn) flows.append(make("p", "No flow has measurements over time."));
      resetZoom();
    }
  }
  const routes = document.getElementById("routes");
  const logged = runs.find((run) => (run.route_changes || []).length);
  if (routes && logged) drawRoutes(routes, logged);

  // Returns the notes of each link: its SPEC, the packets that were lost on it in each mode, and
  // its changes.
  function linkNotes() {
    const notes = new Map();
    for (const link of first.scenario.links) {
      const lost = runs.map((run) => {
        const rows = ((run.engine || {}).pipelines || []).filter((row) => row.pair === link.name || row.pair.startsWith(`${link.name}.`));
        const all = rows.flatMap((row) => Object.entries(row.fates)).reduce((sum, [fate, packets]) => sum + (fate === "delivered" ? 0 : packets), 0);
        return { mode: run.scenario.mode, all, known: rows.length > 0 };
      }).filter((one) => one.known);
      const some = lost.some((one) => one.all > 0);
      const losses = !some ? "" : lost.length === 1 ? `${lost[0].all} lost` : `lost: ${lost.map((one) => `${one.all} (${one.mode})`).join(", ")}`;
      const changes = (first.events || []).filter((e) => e.link === link.name && !e.change.startsWith("capture"))
        .map((e) => `${e.change} ${Number(e.at.toPrecision(4))} s`).join(", ");
      const lines = [(link.specs || []).join(" | "), [changes, losses].filter(Boolean).join("; ")];
      if (lines.some(Boolean)) notes.set(link.name, lines);
    }
    return notes;
  }

  // Draws the routing table of a node at an instant, with the routes that changed at that instant.
  function drawRoutes(parent, run) {
    const identity = (route) => route.split(" ")[0] + (route.match(/ metric \d+/) || [""])[0];
    parent.textContent = "";
    const node = make("select"), time = make("input", "", { type: "range", min: 0, step: 1 });
    node.setAttribute("aria-label", "node"); time.setAttribute("aria-label", "number of the change");
    const nodes = [...new Set(run.route_changes.map((change) => change.node))];
    nodes.sort((a, b) => run.scenario.nodes.indexOf(a) - run.scenario.nodes.indexOf(b));
    for (const name of nodes) node.append(make("option", name, { value: name }));
    const said = make("span", "", { className: "note" }), table = make("table", "", { className: "routes" });
    const wide = make("div", "", { className: "wide" });
    wide.append(table);
    const tools = make("p", "", { className: "tools" });
    const step = (by) => { time.value = Number(time.value) + by; show(); };
    tools.append(node, " ", make("button", "before", { onclick: () => step(-1) }), " ", make("button", "next", { onclick: () => step(1) }), " ", time, " ", said);
    parent.append(tools, wide);
    const show = () => {
      const changes = run.route_changes.filter((change) => change.node === node.value);
      time.max = changes.length - 1;
      const at = Math.min(Number(time.value), changes.length - 1), now = new Map();
      changes.slice(0, at + 1).forEach((change, i) => {
        for (const route of change.removed || []) {
          now.delete(identity(route));
          if (i === at) now.set(identity(route) + "-", [route, "gone"]);
        }
        for (const route of [...(change.replaced || []), ...(change.added || [])]) {
          now.set(identity(route), [route, i === at ? "new" : ""]);
        }
      });
      said.textContent = `change ${at + 1} of ${changes.length}, at ${changes[at].at.toFixed(3)} s`;
      table.textContent = "";
      for (const key of [...now.keys()].sort()) {
        const row = make("tr"), [route, kind] = now.get(key);
        row.append(make("td", route, { className: kind }));
        table.append(row);
      }
    };
    node.onchange = () => { time.value = 1e9; show(); };
    time.oninput = show;
    time.max = 1e9; time.value = 1e9;
    show();
  }
})();
