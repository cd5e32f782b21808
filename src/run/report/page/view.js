// The page of `viaduct view`: queries its server twice a second, and draws the changes.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (name, text, attributes) => Object.assign(document.createElement(name), { textContent: text ?? "", ...attributes });
  const table = (head, rows) => {
    const wide = make("div", "", { className: "wide" }), made = make("table"), first = make("tr");
    head.forEach((cell) => first.append(make("th", cell)));
    made.append(first, ...rows);
    wide.append(made);
    return wide;
  };
  const row = (...cells) => { const made = make("tr"); cells.forEach((cell) => made.append(make("td", cell))); return made; };
  const say = (text, bad) => { byId("said").textContent = text; byId("said").className = bad ? "said-bad" : ""; };
  async function ask(what, body) {
    const answer = await fetch(what, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const kind = answer.headers.get("Content-Type") || "";
    const data = kind.startsWith("application/json") ? await answer.json() : { error: (await answer.text()).trim() };
    if (!answer.ok) throw new Error(data.error || `status ${answer.status}`);
    return data;
  }
  const tell = (action) => action.catch((error) => say(error.message, true));

  let lab = null, drawn = null, chosen = null, pathOf = [], links = new Map(), before = null, now = null;
  const history = new Map(); // the last 120 entries of each link: [s, bit/s, lost/s]
  const HISTORY = 120;

  function draw() {
    byId("picture").textContent = "";
    drawn = drawTopology(byId("picture"), lab.nodes.map((n) => n.name), lab.links, `${lab.nodes.length} nodes and ${lab.links.length} links`,
      lab.runs && lab.runs[0].positions);
    for (const [name, one] of drawn.links) {
      for (const line of [...one.group.querySelectorAll("line")]) {
        const hit = line.cloneNode();
        hit.setAttribute("class", "hit");
        one.group.append(hit);
      }
      if (lab.links.length <= 60) {
        one.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        one.text.setAttribute("class", "rate");
        one.text.setAttribute("x", one.middle[0]); one.text.setAttribute("y", one.middle[1] - 8);
        one.group.append(one.text);
      }
      one.group.dataset.link = name;
      one.group.addEventListener("click", () => choose({ link: name }));
    }
    for (const [name, one] of drawn.nodes) {
      one.group.dataset.node = name;
      one.group.addEventListener("click", () => choose({ node: name }));
    }
    mark();
  }

  const classes = (element, list) => {
    const text = list.filter(Boolean).join(" ");
    if (element.getAttribute("class") !== text) element.setAttribute("class", text);
  };
  function mark() {
    const steps = new Set(pathOf.slice(1).map((node, i) => [pathOf[i], node].sort().join("\0")));
    for (const link of lab.links) {
      const one = drawn.links.get(link.name), figures = links.get(link.name) || {};
      const on = steps.size && link.nodes.some((a) => link.nodes.some((b) => a < b && steps.has(`${a}\0${b}`)));
      classes(one.group, ["link", figures.down ? "off" : figures.lostRate > 0 ? "losing" : figures.bits > 0 && "busy",
        chosen && chosen.link === link.name && "chosen", on && "onpath"]);
      if (one.text) {
        const text = figures.down ? "down" : figures.bits > 0 ? human(figures.bits, "bit/s") : "";
        if (one.text.textContent !== text) one.text.textContent = text;
      }
    }
    for (const [name, one] of drawn.nodes) {
      classes(one.group, ["node", chosen && chosen.node === name && "chosen", pathOf.includes(name) && "onpath"]);
    }
  }

  // Computes the rates of each link between two states: from the pipelines of its SPECs, else from
  // its interfaces.
  function measure() {
    const seconds = before ? now.stamp - before.stamp : 0;
    const real = before ? now.time - before.time : 0;
    for (const link of lab.links) {
      const rows = now.links[link.name], old = before && before.links[link.name];
      const figures = links.get(link.name) || { bits: 0, lostRate: 0 };
      if (rows) {
        let waiting = 0, lost = 0, bits = 0, lostBefore = 0;
        for (const [direction, each] of Object.entries(rows)) {
          waiting += each.waiting; lost += each.lost;
          if (old && old[direction]) { bits += each.out_bytes - old[direction].out_bytes; lostBefore += old[direction].lost; }
        }
        if (seconds > 0) Object.assign(figures, { bits: (bits * 8) / seconds, lostRate: (lost - lostBefore) / seconds });
        Object.assign(figures, { waiting, lost, rows });
      } else if (now.interfaces && link.ends && real > 0) {
        let bytes = 0;
        for (const [node, name] of link.ends) {
          const is = (now.interfaces[node] || {})[name], was = ((before.interfaces || {})[node] || {})[name];
          if (is && was) bytes += is[0] - was[0];
        }
        Object.assign(figures, { bits: (bytes * 8) / real, lost: 0, waiting: 0, lostRate: 0 });
      }
      links.set(link.name, figures);
      if (seconds > 0 || !rows) {
        if (!history.has(link.name)) history.set(link.name, []);
        const kept = history.get(link.name);
        kept.push([now.time, figures.bits, figures.lostRate]);
        if (kept.length > HISTORY) kept.shift();
      }
    }
  }

  let chart = null, hasSpecs = false;
  function drawHistory() {
    const place = byId("history");
    if (!place || typeof uPlot === "undefined") return;
    const kept = history.get(chosen.link) || [], end = kept.length ? kept[kept.length - 1][0] : 0;
    const data = [kept.map((k) => k[0] - end), kept.map((k) => k[1]), kept.map((k) => k[2])];
    if (!chart) {
      const axis = { stroke: () => colour("ink"), grid: { stroke: () => colour("rule") } };
      chart = new uPlot({ width: Math.max(260, place.clientWidth), height: 180, scales: { x: { time: false } }, cursor: { drag: { x: false } },
        axes: [{ ...axis, label: "s ago", labelSize: 16, size: 30 }, { ...axis, size: 80, values: (_, v) => v.map((x) => human(x, "bit/s")) },
          { ...axis, scale: "lost", side: 1, size: 40, grid: { show: false } }],
        series: [{ label: "s" }, { label: "passed", stroke: () => seriesColour(0), value: (_, v) => human(v, "bit/s") },
          { label: "lost/s", scale: "lost", stroke: () => colour("bad"), value: (_, v) => human(v, "") }] }, data, place);
    } else { chart.setData(data); }
  }

  function choose(what) {
    chosen = what; chart = null;
    if (what && what.link) pathOf = [];
    mark();
    tell(showPanel());
  }

  // Whether nodes have routing tables and links have ends, as in a lab or a paused simulation.
  const isNet = () => lab.kind === "lab" || lab.kind === "paused";
  async function showPanel() {
    const panel = byId("panel");
    if (lab.kind === "result") return showFinished();
    if (!chosen) return showBusiest();
    panel.textContent = "";
    panel.append(make("button", "all links", { onclick: () => choose(null) }));
    if (chosen.node) return showNode(chosen.node, panel);
    const link = lab.links.find((l) => l.name === chosen.link);
    panel.append(make("h2", `Link ${link.name}`), make("p", link.nodes.join(" - "), { className: "note" }), make("div", "", { id: "figures" }), make("div", "", { id: "history" }));
    const rows = (links.get(link.name) || {}).rows;
    hasSpecs = Boolean(rows);
    if (rows) {
      // Lists, for a link of several nodes, the packets that each node sends ("n0 up"); no SPEC
      // applies to the packets that it receives.
      const all = ["up", "down", ...link.nodes.map((n) => `${n} up`)];
      for (const direction of all.filter((d) => rows[d])) {
        const form = make("form"), input = make("input", "", { value: rows[direction].spec, name: direction, spellcheck: false });
        input.setAttribute("aria-label", `SPEC ${direction}`);
        const way = direction === "up" ? [0, 1] : [1, 0];
        form.append(make("span", direction.includes(" ") ? `${direction.split(" ")[0]} →` : way.map((n) => link.nodes[n]).join(" → ")), input, make("button", "set"));
        form.onsubmit = (event) => {
          event.preventDefault();
          tell(ask("spec", { link: link.name, direction, spec: input.value }).then(() => say(`${link.name} ${direction}: ${input.value}`)));
        };
        panel.append(form);
      }
    } else if (lab.kind !== "paused") { panel.append(make("p", "The path engine does not emulate a SPEC on this link.", { className: "note" })); }
    if (isNet()) {
      for (const up of [false, true]) {
        panel.append(make("button", up ? "link up" : "link down", { onclick: () => tell(ask("link", { link: link.name, up }).then(() => {
          (links.get(link.name) || {}).down = !up;
          say(`${link.name} ${up ? "up" : "down"}`); mark();
          packetsDue = 0; refreshPackets();
        })) }), " ");
      }
      panel.append(make("h2", lab.kind === "paused" ? "Queues and counters" : "Packets"), make("pre", "", { id: "packets" }));
    }
    refreshPanel();
  }

  async function showNode(name, panel) {
    panel.append(make("h2", `Node ${name}`));
    const plane = (lab.nodes.find((n) => n.name === name) || {}).plane;
    if (plane) panel.append(make("p", `data plane: ${plane}`, { className: "note" }));
    if (!isNet()) return;
    const to = make("select", "", { id: "to" });
    to.append(make("option", "path to...", { value: "" }));
    lab.nodes.forEach((n) => { if (n.name !== name) to.append(make("option", n.name, { value: n.name })); });
    const told = make("p", "", { id: "hops", className: "note" });
    to.onchange = () => tell((async () => {
      pathOf = [];
      if (to.value) {
        const found = await ask(`path?from=${encodeURIComponent(name)}&to=${encodeURIComponent(to.value)}`);
        pathOf = found.nodes;
        told.textContent = found.nodes.join(" → ") + (found.complete ? "" : ` — ${found.why || "incomplete"}`);
      } else { told.textContent = ""; }
      mark();
    })());
    panel.append(to, told);
    const found = await ask(`node?name=${encodeURIComponent(name)}`);
    panel.append(table(["interface", "state", "addresses"], found.addresses.map((a) => row(...a))));
    panel.append(make("h2", "Routes"), make("pre", found.routes.join("\n") || "no routes in the kernel of this node"));
  }

  function showBusiest() {
    const panel = byId("panel");
    const order = [...lab.links].sort((a, b) => {
      const x = links.get(a.name) || {}, y = links.get(b.name) || {};
      return (y.lostRate || 0) - (x.lostRate || 0) || (y.bits || 0) - (x.bits || 0);
    }).slice(0, 25);
    panel.textContent = "";
    if (lab.kind === "paused") {
      panel.append(make("h2", "Links"), table(["link", "interfaces"], lab.links.map((link) => {
        const made = row(link.name, link.ends.map((end) => end.join(" ")).join(", "));
        made.className = "pick"; made.dataset.link = link.name;
        made.onclick = () => choose({ link: link.name });
        return made;
      })), make("p", "Click on a link or a node.", { className: "note" }));
      return;
    }
    panel.append(make("h2", lab.links.length > order.length ? `Links: the busiest ${order.length} of ${lab.links.length}` : "Links"));
    panel.append(table(["link", "passed", "lost/s", "lost", "queue"], order.map((link) => {
      const f = links.get(link.name) || {};
      const made = row(link.name, human(f.bits || 0, "bit/s"), (f.lostRate || 0).toFixed(1), f.lost ?? "-", f.waiting ?? "-");
      made.className = "pick"; made.dataset.link = link.name;
      made.onclick = () => choose({ link: link.name });
      return made;
    })));
    panel.append(make("p", "Click on a link or a node.", { className: "note" }));
  }

  function refreshPanel() {
    if (!chosen) return showBusiest();
    const place = byId("figures");
    if (!place || !chosen.link) return;
    const figures = links.get(chosen.link) || {}, rows = [];
    if (figures.rows && !hasSpecs) return tell(showPanel()); // the SPECs were not known yet
    for (const [direction, each] of Object.entries(figures.rows || {})) {
      rows.push(row(direction, each.packets, each.lost, Object.entries(each.causes).map(([c, n]) => `${c} ${n}`).join(", "), each.waiting));
    }
    place.textContent = "";
    if (lab.kind === "paused") return;
    place.append(make("p", `passed ${human(figures.bits || 0, "bit/s")}, lost ${(figures.lostRate || 0).toFixed(1)}/s`, { id: "passed" }));
    if (rows.length) place.append(table(["direction", "packets", "lost", "causes", "queue"], rows));
    drawHistory();
  }

  let packetsDue = 0;
  async function refreshPackets() {
    const place = byId("packets");
    if (!place || !chosen || !chosen.link || Date.now() < packetsDue) return;
    // Does not query again while the simulation is paused: no packets pass, and the query lets some
    // time pass.
    if (lab.kind === "paused" && place.textContent && packetsDue) return;
    packetsDue = Date.now() + 1500;
    const found = await ask(`packets?link=${encodeURIComponent(chosen.link)}`).catch((error) => ({ lines: [error.message] }));
    place.textContent = (found.at ? `at ${found.at}, ${found.seen} seen\n` : "") + (lab.kind === "paused" ? found.lines : found.lines.slice(-60).reverse()).join("\n");
  }

  async function look() {
    try {
      const state = await ask("state");
      before = now; now = state;
      measure();
      mark();
      refreshPanel();
      const timing = state.timing;
      if (lab.kind !== "paused") byId("lateness").textContent = timing && timing.events ? `lateness p50 ${(timing.p50_ns / 1000).toFixed(1)} us, p99 ${(timing.p99_ns / 1000).toFixed(1)} us` : "";
      byId("clock").textContent = new Date(state.time * 1000).toLocaleTimeString();
      if (state.ended) { byId("ended").textContent = state.ended; byId("ended").hidden = false; return; }
      byId("ended").hidden = true;
      refreshPackets();
    } catch (error) {
      byId("ended").textContent = `no answer from viaduct view: ${error.message}`;
      byId("ended").hidden = false;
    }
    setTimeout(look, 500);
  }

  // The view of a finished run: its charts and, at the chosen instant, the links that are down and
  // the rates of flows.
  let run = null, at = 0, playing = false, last = 0;
  const valueAt = (flow) => {
    const time = at - (flow.start || 0);
    if (time < 0) return "not yet";
    const end = endOf(flow, Infinity) - (flow.start || 0);
    if ((flow.gaps || []).some((gap) => { const [a, b] = lostSpan(0, gap, end); return time >= a && time <= b; })) return "lost";
    if (flow.end !== undefined && time > end) return "ended";
    const sample = flow.kind === "ping" ? [...flow.samples].reverse().find(([t]) => t <= time) : flow.samples.find(([t]) => t >= time);
    return sample ? human(sample[1], flow.kind === "ping" ? "ms" : "bit/s") : "-";
  };
  function showFinished() {
    links = new Map();
    for (const event of [...(run.events || [])].sort((a, b) => a.at - b.at)) {
      if (event.at <= at && (event.change === "up" || event.change === "down")) links.set(event.link, { down: event.change === "down" });
    }
    mark();
    const panel = byId("panel");
    panel.textContent = "";
    byId("now").textContent = `${at.toFixed(2)} s`;
    panel.append(make("h2", "Flows"), table(["flow", "now"], run.flows.map((flow) => row(flow.name, flow.error || valueAt(flow)))));
    const past = (run.events || []).filter((event) => event.at <= at);
    if (past.length) panel.append(make("h2", "Events"), table(["time", "link", "change"], past.map((e) => row(`${e.at.toFixed(2)} s`, e.link, e.change))));
    if (chosen && chosen.node) {
      const routes = new Map();
      for (const change of (run.route_changes || []).filter((c) => c.node === chosen.node && c.at <= at)) {
        for (const route of change.removed || []) routes.delete(route.split(" ")[0]);
        for (const route of [...(change.replaced || []), ...(change.added || [])]) routes.set(route.split(" ")[0], route);
      }
      panel.append(make("h2", `Routes of ${chosen.node}`), make("pre", [...routes.values()].sort().join("\n") || "none recorded"));
    }
    charts.forEach((c) => c.setCursor({ left: c.valToPos(at, "x"), top: 10 }, false));
  }
  function finished() {
    byId("play").hidden = false;
    const which = byId("which");
    lab.runs.forEach((each, i) => which.append(make("option", each.scenario.mode, { value: i })));
    const set = () => {
      run = lab.runs[Number(which.value)];
      byId("at").max = run.scenario.duration || 1;
      showFinished();
    };
    which.onchange = set;
    byId("at").oninput = () => { at = Number(byId("at").value); showFinished(); };
    byId("run").onclick = () => { playing = !playing; byId("run").textContent = playing ? "pause" : "play"; last = performance.now(); requestAnimationFrame(play); };
    run = lab.runs[0];
    for (let i = 0; i < Math.max(...lab.runs.map((r) => r.flows.length)) && typeof uPlot !== "undefined"; i++) {
      const spec = flowChart(lab.runs, i), place = make("div", "", { className: "chart" });
      byId("charts").append(make("h3", `${spec.name}: ${spec.what}`), place);
      drawChart(place, spec);
    }
    resetZoom();
    byId("at").value = 0;
    set();
  }
  function play(time) {
    if (!playing) return;
    at += ((time - last) / 1000) * Number(byId("speed").value);
    last = time;
    if (at >= Number(byId("at").max)) { at = Number(byId("at").max); playing = false; byId("run").textContent = "play"; }
    byId("at").value = at;
    showFinished();
    requestAnimationFrame(play);
  }

  tell((async () => {
    lab = await ask("topology");
    document.title = `${lab.name} - Viaduct`;
    byId("name").textContent = `${{ result: "run", paused: "simulation" }[lab.kind] || lab.kind} ${lab.name}`;
    if (lab.kind === "paused") {
      byId("lateness").textContent = `paused at ${lab.paused_at.toFixed(6)} s of virtual time`;
      byId("resume").hidden = false;
      byId("resume").onclick = () => tell(ask("resume", {}).then(() => { byId("resume").hidden = true; say("the simulation continues"); }));
    }
    draw();
    if (lab.kind === "result") return finished();
    showBusiest();
    await look();
  })());
})();
