// Charts over run time, drawn by uPlot: gaps where packets are missing, marks for losses and events, one
// zoom for all of them.
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

// When the packets of a gap were sent, if they were at even distances; s of run time.
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

// spec: { unit, label, stepped, series: [{ name, points: [[x, y or null]], lost: [[from, to, packets]] }],
// events: [{ at, text }], end }. Returns the chart.
function drawChart(parent, spec) {
  const tables = spec.series.map((one) => [one.points.map((p) => p[0]), one.points.map((p) => p[1])]);
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
      if (x - before < 13 * ratio) continue; // no room for its name: it is in the table
      before = x;
      ctx.save(); ctx.translate(x - 5 * ratio, top + 4 * ratio); ctx.rotate(-Math.PI / 2); ctx.fillText(event.text, 0, 0); ctx.restore();
    }
    ctx.restore();
  };
  const axis = { stroke: () => colour("ink"), grid: { stroke: () => colour("rule"), width: 1 }, ticks: { stroke: () => colour("rule") } };
  const width = () => Math.max(parent.clientWidth, 260);
  const chart = new uPlot({
    width: width(), height: width() < 500 ? 210 : 260,
    scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low || 0), high > 0 ? high * 1.05 : 1] } },
    cursor: { sync: { key: "run", scales: ["x", null] }, drag: { x: true, y: false }, focus: { prox: 30 } },
    legend: { live: true },
    axes: [
      { ...axis, label: "run time (s)", labelSize: 20, size: 36 },
      { ...axis, size: 84, values: (_, ticks) => ticks.map((v) => human(v, spec.unit)) },
    ],
    series: [{ label: "run time", value: (_, v) => (v === null ? "-" : `${v.toFixed(3)} s`) }, ...spec.series.map((one, i) => ({
      label: one.name, stroke: () => seriesColour(i), width: 1.6, value: (_, v) => human(v, spec.unit),
      dash: [[], [8, 3], [2, 3], [8, 3, 2, 3]][i % 4],
      paths: spec.stepped ? uPlot.paths.stepped({ align: -1 }) : uPlot.paths.linear(),
      points: { show: one.points.length < 3 || (!spec.stepped && one.points.length < 400), size: 4, stroke: () => seriesColour(i), fill: () => seriesColour(i) },
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

// The flow of several runs as one chart: { spec } of drawChart.
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
    const gaps = flow.gaps || [], flowEnd = points.length ? Math.max(end, points[points.length - 1][0]) : end;
    const lost = gaps.map((gap) => [...lostSpan(start, gap, flowEnd), gap.lost]);
    if (ping) { // no line across what is missing
      points.push(...lost.map(([from, to]) => [(from + to) / 2, null]));
      points.sort((a, b) => a[0] - b[0]);
    }
    const total = gaps.reduce((sum, gap) => sum + gap.lost, 0);
    words.push(flow.error ? `${mode}: failed: ${flow.error}` : `${mode}: ${values.length} values` +
      (values.length ? `, least ${human(sorted[0], unit)}, median ${human(sorted[Math.floor(sorted.length / 2)], unit)}, most ${human(sorted[sorted.length - 1], unit)}` : "") +
      (gaps.length ? `; ${total} packets lost in ${gaps.length} gaps` : ""));
    return { name: runs.length > 1 ? mode : what, points, lost };
  });
  const events = runs.flatMap((run) => run.events || []).filter((e) => !e.change.startsWith("capture"))
    .map((e) => ({ at: e.at, text: `${e.link} ${e.change}` })).sort((a, b) => a.at - b.at);
  return { name: first.name, unit, what, stepped: !ping, series, events, end, label: `${first.name}, ${what} over run time. ${words.join(". ")}` };
}
