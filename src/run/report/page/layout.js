// Computes and draws the positions of the nodes of a network. The same network is always drawn in
// the same way.
"use strict";
const Layout = (() => {
  // Returns the numbers of each node's neighbours. The nodes of a large shared link are only
  // neighbours of its first nodes, so that the effort does not grow with the square of their
  // number.
  function neighbours(nodes, links) {
    const number = new Map(nodes.map((name, i) => [name, i]));
    const near = nodes.map(() => new Set());
    for (const link of links) {
      const ends = link.nodes.map((name) => number.get(name)).filter((i) => i !== undefined);
      for (const a of ends) {
        for (const b of ends.length > 8 ? ends.slice(0, 4) : ends) {
          if (a !== b) { near[a].add(b); near[b].add(a); }
        }
      }
    }
    return near.map((set) => [...set]);
  }

  function distances(near, from) {
    const far = new Float64Array(near.length).fill(-1);
    const queue = [from];
    far[from] = 0;
    for (let head = 0; head < queue.length; head++) {
      for (const next of near[queue[head]]) {
        if (far[next] < 0) { far[next] = far[queue[head]] + 1; queue.push(next); }
      }
    }
    const most = Math.max(1, ...far);
    return far.map((d) => (d < 0 ? most + 2 : d));
  }

  // Computes positions by Pivot MDS (Brandes and Pich, Graph Drawing 2006): two axes that preserve
  // the distances to some of the nodes.
  function pivotMds(near) {
    const n = near.length, pivots = Math.min(n, 40), columns = [];
    let pivot = 0;
    const least = new Float64Array(n).fill(Infinity);
    for (let k = 0; k < pivots; k++) {
      const column = distances(near, pivot);
      columns.push(column);
      for (let i = 0; i < n; i++) least[i] = Math.min(least[i], column[i]);
      pivot = least.reduce((best, d, i) => (d > least[best] ? i : best), 0);
    }
    const centred = columns.map((column) => {
      const square = column.map((d) => d * d), mean = square.reduce((a, b) => a + b, 0) / n;
      return square.map((d) => -0.5 * (d - mean));
    });
    for (let i = 0; i < n; i++) {
      const mean = centred.reduce((sum, column) => sum + column[i], 0) / pivots;
      for (const column of centred) column[i] -= mean;
    }
    const axes = [];
    for (let axis = 0; axis < 2; axis++) {
      let vector = centred.map((_, k) => Math.sin(1 + 3 * k + 7 * axis) + (k === axis ? 1 : 0));
      let place = null;
      for (let round = 0; round < 60; round++) {
        for (const before of axes) {
          const dot = vector.reduce((sum, v, k) => sum + v * before.vector[k], 0);
          vector = vector.map((v, k) => v - dot * before.vector[k]);
        }
        place = Array.from({ length: n }, (_, i) => centred.reduce((sum, column, k) => sum + column[i] * vector[k], 0));
        const next = centred.map((column) => column.reduce((sum, value, i) => sum + value * place[i], 0));
        const length = Math.hypot(...next);
        if (!(length > 1e-12)) break;
        vector = next.map((v) => v / length);
      }
      axes.push({ vector, place });
    }
    return Array.from({ length: n }, (_, i) => [axes[0].place[i], axes[1].place[i]]);
  }

  // Improves positions that are nearly right by the forces of Fruchterman and Reingold (1991).
  function relax(places, near) {
    const n = places.length, rounds = Math.max(10, Math.min(200, Math.floor(2e7 / (n * n))));
    for (let round = 0; round < rounds; round++) {
      const moves = places.map(() => [0, 0]);
      for (let a = 0; a < n; a++) {
        for (let b = a + 1; b < n; b++) {
          const dx = places[a][0] - places[b][0], dy = places[a][1] - places[b][1];
          const square = Math.max(dx * dx + dy * dy, 1e-4);
          if (square > 25) continue; // edges are about 1 long
          const push = 0.6 / square;
          moves[a][0] += dx * push; moves[a][1] += dy * push;
          moves[b][0] -= dx * push; moves[b][1] -= dy * push;
        }
        for (const b of near[a]) {
          const dx = places[b][0] - places[a][0], dy = places[b][1] - places[a][1];
          const pull = Math.hypot(dx, dy);
          moves[a][0] += dx * pull; moves[a][1] += dy * pull;
        }
      }
      const longest = 0.3 * (1 - round / rounds);
      for (let a = 0; a < n; a++) {
        const length = Math.hypot(...moves[a]) || 1, step = Math.min(length * 0.1, longest) / length;
        places[a][0] += moves[a][0] * step; places[a][1] += moves[a][1] * step;
      }
    }
  }

  // Returns positions if some nodes have a position in metres, y upwards; a node without a position
  // is put next to its neighbours. The unit is the mean distance of a node to its nearest node.
  function known(nodes, near, positions) {
    const places = nodes.map((name) => (positions[name] ? [positions[name][0], -positions[name][1]] : null));
    const there = places.filter(Boolean);
    const nearest = there.map((p) => Math.min(...there.map((q) => (q === p ? Infinity : Math.hypot(p[0] - q[0], p[1] - q[1])))));
    const some = nearest.filter((d) => d > 0 && d < Infinity);
    const unit = some.length ? some.reduce((a, b) => a + b, 0) / some.length : 1;
    places.forEach((p) => { if (p) { p[0] /= unit; p[1] /= unit; } });
    let turn = 0;
    for (let left = true; left;) {
      left = false;
      places.forEach((p, i) => {
        const next = p ? undefined : near[i].map((j) => places[j]).find(Boolean);
        if (!next) return;
        turn += 2.4; // the golden angle: no two nodes at one position
        places[i] = [next[0] + 0.8 * Math.cos(turn), next[1] + 0.8 * Math.sin(turn)];
        left = true;
      });
    }
    let apart = 0; // nodes without a link to these nodes are in a row below
    const low = Math.max(...places.filter(Boolean).map((p) => p[1])) + 1, from = Math.min(...places.filter(Boolean).map((p) => p[0]));
    return places.map((p) => p || [from + apart++, low]);
  }

  // Returns the positions, { name: [x, y] }, within a picture of this width, and the height of that
  // picture. `positions`: the positions in metres of nodes that have one.
  function place(nodes, links, width, positions) {
    const found = new Map();
    if (nodes.length === 0) return { places: found, height: 80, radius: 16 };
    const near = neighbours(nodes, links);
    const given = nodes.some((name) => positions && positions[name]);
    const places = given ? known(nodes, near, positions) : arranged(nodes, near);
    const low = [0, 1].map((k) => Math.min(...places.map((p) => p[k])));
    const size = [0, 1].map((k) => Math.max(...places.map((p) => p[k])) - low[k]);
    const margin = 34, across = width - 2 * margin;
    const factor = Math.min(size[0] > 1e-6 ? across / size[0] : Infinity, size[1] > 1e-6 ? 620 / size[1] : Infinity, 170);
    const height = Math.max(size[1] * factor + 2 * margin, 90);
    places.forEach(([x, y], i) => found.set(nodes[i], [
      width / 2 + (x - low[0] - size[0] / 2) * factor, height / 2 + (y - low[1] - size[1] / 2) * factor,
    ]));
    return { places: found, height, radius: Math.max(3, Math.min(17, factor * 0.3)) };
  }

  // Returns positions for nodes without positions in metres, computed from their links.
  function arranged(nodes, near) {
    let places = pivotMds(near);
    // Scales the positions so that edges are about 1 long, and separates nodes at the same
    // position.
    let total = 0, count = 0;
    near.forEach((list, a) => list.forEach((b) => {
      total += Math.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1]); count++;
    }));
    const scale = total > 1e-9 ? count / total : 1;
    places = places.map(([x, y], i) => [x * scale + 0.05 * Math.sin(i * 12.9898), y * scale + 0.05 * Math.cos(i * 78.233)]);
    relax(places, near);
    // Rotates the picture so that its longer side is horizontal.
    const mx = places.reduce((s, p) => s + p[0], 0) / nodes.length, my = places.reduce((s, p) => s + p[1], 0) / nodes.length;
    let xx = 0, xy = 0, yy = 0;
    for (const [x, y] of places) { xx += (x - mx) ** 2; xy += (x - mx) * (y - my); yy += (y - my) ** 2; }
    const turn = -0.5 * Math.atan2(2 * xy, xx - yy), c = Math.cos(turn), s = Math.sin(turn);
    places = places.map(([x, y]) => [(x - mx) * c - (y - my) * s, (x - mx) * s + (y - my) * c]);
    if (places[0][0] > places[places.length - 1][0]) places = places.map(([x, y]) => [-x, y]);
    return places;
  }
  return { place };
})();

// Draws the topology. Returns the SVG elements of nodes and links by name, so that they can be
// coloured. A Wi-Fi channel is drawn as a ring around each of its nodes, not as a line.
// `positions`: as for Layout.place(). `notes`: the text at links, by name, at most two lines; left
// out if there is not enough space.
function drawTopology(parent, nodes, links, label, positions, notes = new Map()) {
  const make = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const width = Math.max(320, Math.min(1000, parent.clientWidth || 1000));
  const { places, height, radius } = Layout.place(nodes, links, width, positions);
  const svg = make("svg", { class: "topology", viewBox: `0 0 ${width} ${height.toFixed(0)}`, role: "img", "aria-label": label });
  const drawn = { svg, nodes: new Map(), links: new Map(), places };
  let wireless = 0;
  for (const link of links) {
    const ends = link.nodes.map((name) => places.get(name)).filter(Boolean);
    const group = make("g", { class: "link" });
    group.append(make("title", {}, `${link.name}: ${link.wifi ? `Wi-Fi ${link.wifi}, ` : ""}${link.nodes.join(", ")}`));
    const middle = [0, 1].map((k) => ends.reduce((sum, p) => sum + p[k], 0) / ends.length);
    if (link.wifi) {
      const number = wireless++;
      for (const [x, y] of ends) group.append(make("circle", { cx: x, cy: y, r: radius + 4 + 4 * number, class: "radio" }));
    } else if (ends.length === 1) { // the other end of the link is outside of the lab
      const [x, y] = ends[0], out = y + radius * 2.6 + 8;
      group.append(make("line", { x1: x, y1: y, x2: x, y2: out }), make("rect", { x: x - 4, y: out - 4, width: 8, height: 8 }));
      middle[1] = out;
    } else if (ends.length === 2) {
      group.append(make("line", { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1] }));
    } else {
      for (const end of ends) group.append(make("line", { x1: end[0], y1: end[1], x2: middle[0], y2: middle[1] }));
      group.append(make("rect", { x: middle[0] - 5, y: middle[1] - 5, width: 10, height: 10 }));
    }
    svg.append(group);
    drawn.links.set(link.name, { group, ends, middle });
  }
  // The names of all nodes are in the circles, or all are below the circles.
  const fits = nodes.every((name) => name.length * 7.5 < 2 * radius - 4);
  for (const [name, [x, y]] of places) {
    const group = make("g", { class: "node" });
    group.append(make("title", {}, name), make("circle", { cx: x, cy: y, r: radius }));
    if (radius >= 8) group.append(make("text", { x, y: fits ? y : y + radius + 10, class: fits ? "" : "small" }, name));
    svg.append(group);
    drawn.nodes.set(name, { group });
  }
  // Draws the notes over lines and nodes if they do not cover each other: the widest note is as
  // long as a link.
  const most = Math.min(...[...drawn.links.values()].filter(({ ends }) => ends.length === 2).map(({ ends: [a, b] }) => Math.hypot(a[0] - b[0], a[1] - b[1])), width);
  for (const [name, lines] of notes) {
    const { group, middle } = drawn.links.get(name) || {};
    if (!group) continue;
    group.querySelector("title").textContent += `\n${lines.join("\n")}`;
    if (most < 90) continue;
    lines.slice(0, 2).forEach((line, i) => {
      const text = line.length > most / 5.4 ? `${line.slice(0, Math.floor(most / 5.4) - 1)}…` : line;
      svg.append(make("text", { x: middle[0], y: middle[1] + (i === 0 ? -9 : 10), class: "note-of-link" }, text));
    });
  }
  parent.append(svg);
  return drawn;
}
