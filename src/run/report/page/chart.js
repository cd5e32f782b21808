// Charts of values over run time, drawn by uPlot: with gaps where packets are missing, marks for
// losses and events, and a common zoom for all charts.
"use strict";
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const seriesColour = (i) => colour(`c${i % 6}`);

const siPrefixes = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
function human(value, unit) {
  if (value === null || value === undefined) return "-";
  if (unit === "ms" || value === 0) return `${Number(value.toPrecision(4))} ${unit}`;
  const [factor, prefix] = siPrefixes.find(([least]) => Math.abs(value) >= least) || [1, ""];
  return `${Number((value / factor).toPrecision(4))} ${prefix}${unit}`;
}

// Returns the run time in seconds at which the first and the last packet of a gap were sent, if all
// packets were sent at equal intervals.
function lostSpan(start, gap, end) {
  const from = start + gap.from, to = gap.to === undefined ? end : start + gap.to;
  const step = (to - from) / (gap.lost + 1);
  return [from + step, gap.to === undefined ? to : Math.max(to - step, from + step)];
}

const charts = [];
let zooming = false;
function zoomAll(min, max) {
  if (zooming) return;
  zooming = true;
  for (const chart of charts) chart.setScale("x", { min, max });
  zooming = false;
}

// Draws and returns a chart. spec: { unit, label, stepped, series: [{ name, points: [[x, y or
// null]], lost: [[from, to, packets]], rates: [[x, lost packets a second]] }], events: [{ at, text
// }], end }.
function drawChart(parent, spec) {
  const losing = spec.series.map((one, i) => ({ ...one, number: i })).filter((one) => one.rates && one.rates.length);
  const tables = [...spec.series.map((one) => one.points), ...losing.map((one) => one.rates)]
    .map((points) => [points.map((p) => p[0]), points.map((p) => p[1])]);
  const data = uPlot.join(tables.map((table) => (table[0].length ? table : [[0], [null]])));
  const marks = (u) => {
    const { ctx } = u, { top, height, left, width } = u.bbox, ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath(); ctx.rect(left, top, width, height); ctx.clip();
    spec.series.forEach((one, i) => {
      if (!u.series[i + 1].show) return;
      for (const [from, to] of one.lost || []) {
        const x0 = u.valToPos(from, "x", true), x1 = u.valToPos(to, "x", true);
        if (x1 < left || x0 > left + width) continue;
        ctx.fillStyle = colour("bad");
        ctx.globalAlpha = 0.14;
        ctx.fillRect(x0, top, Math.max(x1 - x0, ratio), height);
        ctx.globalAlpha = 1;
        ctx.fillRect(x0, top + height - (4 + 5 * i) * ratio, Math.max(x1 - x0, 1.5 * ratio), 3 * ratio);
      }
    });
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    let before = -Infinity;
    for (const event of spec.events || []) {
      const x = u.valToPos(event.at, "x", true);
      ctx.strokeStyle = ctx.fillStyle = colour("ink");
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath(); ctx.moveTo(x, top); ctx.lineTo(x, top + height); ctx.stroke();
      if (x - before < 13 * ratio) continue; // not enough space for the name, which is in the table
      before = x;
      ctx.save(); ctx.translate(x - 5 * ratio, top + 4 * ratio); ctx.rotate(-Math.PI / 2); ctx.fillText(event.text, 0, 0); ctx.restore();
    }
    ctx.restore();
  };
  const axis = { stroke: () => colour("ink"), grid: { stroke: () => colour("rule"), width: 1 }, ticks: { stroke: () => colour("rule") } };
  const width = () => Math.max(parent.clientWidth, 260);
  const chart = new uPlot({
    width: width(), height: width() < 500 ? 210 : 260,
    scales: { x: { time: false }, lost: { range: (_, low, high) => [0, high > 0 ? high * 1.5 : 1] }, y: { range: (_, low, high) => [Math.min(0, low || 0), high > 0 ? high * 1.05 : 1] } },
    cursor: { sync: { key: "run", scales: ["x", null] }, drag: { x: true, y: false }, focus: { prox: 30 } },
    legend: { live: true },
    axes: [
      { ...axis, label: "run time (s)", labelSize: 20, size: 36 },
      { ...axis, size: 84, values: (_, ticks) => ticks.map((v) => human(v, spec.unit)) },
      ...(losing.length ? [{ ...axis, scale: "lost", side: 1, size: 62, stroke: () => colour("bad"), grid: { show: false }, label: "lost packets/s", labelSize: 20,
        values: (_, ticks) => ticks.map((v) => human(v, "").trim()) }] : []),
    ],
    series: [{ label: "run time", value: (_, v) => (v === null ? "-" : `${v.toFixed(3)} s`) }, ...spec.series.map((one, i) => ({
      label: one.name, stroke: () => seriesColour(i), width: 1.6, value: (_, v) => human(v, spec.unit),
      dash: [[], [8, 3], [2, 3], [8, 3, 2, 3]][i % 4],
      paths: spec.stepped ? uPlot.paths.stepped({ align: -1 }) : uPlot.paths.linear(),
      points: { show: one.points.length < 3 || (!spec.stepped && one.points.length < 400), size: 4, stroke: () => seriesColour(i), fill: () => seriesColour(i) },
    })), ...losing.map((one) => ({
      label: spec.series.length > 1 ? `${one.name}, lost` : "lost", scale: "lost", stroke: () => colour("bad"), width: 1.2, value: (_, v) => (v === null ? "-" : `${human(v, "")}/s`),
      dash: [[], [8, 3], [2, 3], [8, 3, 2, 3]][one.number % 4], paths: uPlot.paths.stepped({ align: -1 }), points: { show: false },
    }))],
    hooks: {
      draw: [marks],
      setScale: [(u, key) => { if (key === "x") zoomAll(u.scales.x.min, u.scales.x.max); }],
    },
  }, data, parent);
  parent.setAttribute("role", "img");
  parent.setAttribute("aria-label", spec.label);
  chart.ends = [Math.min(0, data[0][0] ?? 0), Math.max(spec.end || 0, data[0][data[0].length - 1] ?? 1)];
  chart.setScale("x", { min: chart.ends[0], max: chart.ends[1] });
  chart.over.addEventListener("dblclick", () => resetZoom());
  charts.push(chart);
  new ResizeObserver(() => {
    if (Math.abs(chart.width - width()) > 1) chart.setSize({ width: width(), height: width() < 500 ? 210 : 260 });
  }).observe(parent);
  return chart;
}

function resetZoom() {
  if (!charts.length) return;
  zoomAll(Math.min(...charts.map((c) => c.ends[0])), Math.max(...charts.map((c) => c.ends[1])));
}
function zoomBy(factor) {
  if (!charts.length) return;
  const { min, max } = charts[0].scales.x, middle = (min + max) / 2, half = ((max - min) / 2) * factor;
  zoomAll(middle - half, middle + half);
}
if (window.matchMedia) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.redraw(false)));
}

// Returns the run time in seconds at which a flow ended, which results of older versions do not
// contain. `end`: the end of the run.
const endOf = (flow, end) => flow.end ?? (flow.samples.length ? Math.max(end, (flow.start || 0) + flow.samples[flow.samples.length - 1][0]) : end);

// Returns the lost packets per second in equal parts of a flow, as [time at which the part ends,
// rate], beginning at the flow's start. Computed from the listed gaps (`lost`: from, to, packets)
// or, if not all gaps are listed, from the packets that did not arrive.
const MOST_SPANS = 50, PARTS = 60;
function lossRates(flow, lost, start, end) {
  if (!(end > start)) return [];
  const width = (end - start) / PARTS, missing = new Array(PARTS).fill(0);
  const part = (time) => Math.max(0, Math.min(PARTS - 1, Math.floor((time - start) / width)));
  const share = (into, from, to, amount) => {
    for (let i = part(from); i <= part(to); i++) {
      const a = Math.max(from, start + i * width), b = Math.min(to, start + (i + 1) * width);
      into[i] += to > from ? amount * Math.max(0, b - a) / (to - from) : amount;
    }
  };
  if (!flow.gaps_omitted) {
    for (const [from, to, packets] of lost) share(missing, from, Math.min(to, end), packets);
  } else {
    // Samples of UDP are rates in intervals, samples of a ping are answers; all are of packets that
    // arrived.
    const arrived = new Array(PARTS).fill(0);
    const weights = flow.kind === "ping" ? flow.samples.map(() => 1) : flow.samples.map(([t, v], i) => v * (t - (i ? flow.samples[i - 1][0] : 0)));
    const all = weights.reduce((a, b) => a + b, 0) || 1;
    flow.samples.forEach(([t], i) => {
      const from = start + (flow.kind === "ping" ? t : i ? flow.samples[i - 1][0] : 0);
      share(arrived, from, start + t, (flow.received * weights[i]) / all);
    });
    for (let i = 0; i < PARTS; i++) missing[i] = Math.max(0, flow.sent / PARTS - arrived[i]);
  }
  const rates = missing.map((packets, i) => [start + (i + 1) * width, packets / width]);
  return [[start, rates[0][1]], ...rates];
}

// Returns the chart of a flow in several runs, in the form of the `spec` of drawChart().
function flowChart(runs, index) {
  const flows = runs.map((run) => [run.scenario.mode, run.flows[index]]).filter(([, flow]) => flow);
  const first = flows[0][1], ping = first.kind === "ping", unit = ping ? "ms" : "bit/s";
  const what = ping ? "round trip" : "received";
  const end = Math.max(...runs.map((run) => run.scenario.duration || 0));
  const words = [];
  const series = flows.map(([mode, flow]) => {
    const start = flow.start || 0, values = flow.samples.map(([, v]) => v), sorted = [...values].sort((a, b) => a - b);
    const points = flow.samples.map(([t, v]) => [start + t, v]);
    if (!ping && points.length) points.unshift([start, points[0][1]]);
    const gaps = flow.gaps || [], flowEnd = endOf(flow, end);
    const lost = gaps.map((gap) => [...lostSpan(start, gap, flowEnd), gap.lost]);
    if (ping) { // breaks the line where packets are missing
      points.push(...lost.map(([from, to]) => [(from + to) / 2, null]));
      points.sort((a, b) => a[0] - b[0]);
    }
    const total = gaps.reduce((sum, gap) => sum + gap.lost, flow.gaps_omitted || 0);
    words.push(flow.error ? `${mode}: failed: ${flow.error}` : `${mode}: ${values.length} values` +
      (values.length ? `, minimum ${human(sorted[0], unit)}, median ${human(sorted[Math.floor(sorted.length / 2)], unit)}, maximum ${human(sorted[sorted.length - 1], unit)}` : "") +
      (gaps.length ? `; ${total} packets lost in ${flow.gaps_omitted ? "more than " : ""}${gaps.length} gaps` : ""));
    const name = runs.length > 1 ? mode : what;
    // Draws the number of losses per second if there are too many losses to show the time of each.
    return gaps.length > MOST_SPANS ? { name, points, lost: [], rates: lossRates(flow, lost, start, flowEnd) } : { name, points, lost };
  });
  const events = runs.flatMap((run) => run.events || []).filter((e) => !e.change.startsWith("capture"))
    .map((e) => ({ at: e.at, text: `${e.link} ${e.change}` })).sort((a, b) => a.at - b.at);
  return { name: first.name, unit, what, stepped: !ping, series, events, end, label: `${first.name}, ${what} over run time. ${words.join(". ")}` };
}
