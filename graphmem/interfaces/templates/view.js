"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  // Okabe and Ito's palette: told apart by colour-blind readers as well.
  const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#7A6FBE"];
  const NOBODY = "#8793A0";
  const MARGIN = 60, ZOOM = [0.02, 8], CAPTION_GAP = 4, CAPTION_HEIGHT = 15, SMALLEST = 0.36;

  const picture = JSON.parse(document.getElementById("picture").textContent);
  const byId = (id) => document.getElementById(id);
  const graph = byId("graph"), world = byId("world"), card = byId("card");
  const view = { x: 0, y: 0, scale: 1 };
  let kept = null, hits = [], current = -1;

  function make(parent, name, attributes) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.appendChild(element);
    return element;
  }

  // --- points and edges

  const nodes = picture.nodes.map((node, index) => ({
    ...node, index, radius: node.role === "question" ? 15 : 9 + 9 * Math.sqrt(node.weight),
    near: new Set([index]), edges: [],
    haystack: [node.text, ...node.facts.map((fact) => fact[1])].join("\n").toLocaleLowerCase(),
  }));
  const edges = picture.edges.map((edge, index) => ({ ...edge, index, a: nodes[edge.from], b: nodes[edge.to] }));
  for (const edge of edges) {
    edge.a.near.add(edge.to); edge.b.near.add(edge.from);
    edge.a.edges.push(edge); edge.b.edges.push(edge);
  }
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  for (const node of nodes) node.half = pen.measureText(node.caption).width / 2 + 2;
  const groups = [...new Set(nodes.map((node) => node.group).filter(Boolean))].sort();
  const colour = (group) => group ? COLOURS[groups.indexOf(group) % COLOURS.length] : NOBODY;

  function curve(edge) {
    const { a, b } = edge;
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const ux = (b.x - a.x) / length, uy = (b.y - a.y) / length;
    // Two kinds of edge between the same points lie side by side.
    const bend = edge.kind === "RELATED" ? 0 : Math.min(22, length / 5);
    const mx = (a.x + b.x) / 2 - uy * bend, my = (a.y + b.y) / 2 + ux * bend;
    const end = b.radius + 3;
    return `M${a.x} ${a.y}Q${mx} ${my} ${b.x - ux * end} ${b.y - uy * end}`;
  }

  for (const edge of edges) {
    const place = make(byId("edges"), "g", { class: `edge ${edge.kind.replace(" ", "-")}${edge.walked ? " walked" : ""}` });
    const width = edge.kind === "RELATED" ? 1 + 5 * Math.max(0, edge.weight - 0.5) * 2 : edge.walked ? 2 : 1.2;
    const line = make(place, "path", { class: "line", d: curve(edge), "stroke-width": width });
    if (edge.kind === "FOLLOWS" || edge.kind === "SUPERSEDES") line.setAttribute("marker-end", "url(#arrow)");
    make(place, "path", { class: "touch", d: curve(edge) });
    Object.assign(edge, { place, line, width });
    place.addEventListener("pointerenter", (event) => hover(edge, event));
    place.addEventListener("pointermove", (event) => follow(event));
    place.addEventListener("pointerleave", leave);
  }
  for (const node of nodes) {
    const place = make(byId("nodes"), "g", { class: `node ${node.role}`, tabindex: 0, role: "img", transform: `translate(${node.x} ${node.y})` });
    place.setAttribute("aria-label", node.text);
    if (node.role === "question") make(place, "rect", { x: -13, y: -13, width: 26, height: 26, transform: "rotate(45)" });
    else make(place, "circle", { r: node.radius, fill: colour(node.group) });
    node.place = place;
    node.label = make(byId("captions"), "text", { class: "caption" });
    node.label.textContent = node.caption;
    place.addEventListener("pointerenter", (event) => hover(node, event));
    place.addEventListener("pointermove", (event) => follow(event));
    place.addEventListener("pointerleave", leave);
    place.addEventListener("focus", () => { if (place.matches(":focus-visible")) hover(node, centre(node)); });
    place.addEventListener("blur", leave);
    place.addEventListener("click", () => keep(node));
    place.addEventListener("keydown", (event) => { if (event.key === "Enter") keep(node); });
  }

  // --- the card

  function tell(thing) {
    byId("text").textContent = thing.text ?? `${thing.a.caption}\n${thing.b.caption}`;
    const list = byId("facts");
    list.replaceChildren();
    for (const [name, value] of thing.facts) {
      list.appendChild(document.createElement("dt")).textContent = name;
      list.appendChild(document.createElement("dd")).textContent = value;
    }
    byId("hint").textContent = thing === kept ? "Escape or a click elsewhere closes this." : thing.text === undefined ? "" : "Click to keep this open.";
    card.classList.toggle("kept", thing === kept);
    card.hidden = false;
  }

  function hover(thing, event) {
    if (kept) return;
    tell(thing);
    follow(event);
    light(thing.near ?? new Set([thing.from, thing.to]), thing.edges ?? [thing]);
  }

  function follow(event) {
    if (kept || card.hidden) return;
    const box = graph.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const left = x + 18 + card.offsetWidth > box.width ? x - 18 - card.offsetWidth : x + 18;
    card.style.left = `${Math.max(8, left)}px`;
    card.style.top = `${Math.max(8, Math.min(y + 12, box.height - card.offsetHeight - 12))}px`;
    card.style.right = "auto";
  }

  function leave() {
    if (kept) return;
    card.hidden = true;
    search();
  }

  function keep(node) {
    kept = node;
    for (const each of nodes) each.place.classList.toggle("kept", each === node);
    if (node === null) { leave(); return; }
    tell(node);
    light(node.near, node.edges);
    card.style.left = "auto"; card.style.right = "12px"; card.style.top = "12px";
  }

  function light(points, lines) {
    graph.classList.add("some");
    for (const node of nodes) {
      const lit = points.has(node.index);
      node.place.classList.toggle("lit", lit);
      node.label.classList.toggle("lit", lit);
    }
    for (const edge of edges) edge.place.classList.remove("lit");
    for (const edge of lines) edge.place.classList.add("lit");
  }

  // --- search and filter

  function search() {
    const words = byId("search").value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    hits = words.length ? nodes.filter((node) => words.every((word) => node.haystack.includes(word))) : [];
    const found = new Set(hits.map((node) => node.index));
    for (const node of nodes) node.place.classList.toggle("hit", found.has(node.index));
    byId("found").textContent = words.length ? `${hits.length} of ${nodes.length} notes` : "";
    if (words.length) light(found, edges.filter((edge) => found.has(edge.from) && found.has(edge.to)));
    else graph.classList.remove("some");
  }

  function next() {
    if (!hits.length) return;
    current = (current + 1) % hits.length;
    const node = hits[current], box = graph.getBoundingClientRect();
    view.scale = Math.max(view.scale, 0.9);
    view.x = box.width / 2 - node.x * view.scale;
    view.y = box.height / 2 - node.y * view.scale;
    draw();
    keep(node);
  }

  function filter() {
    const least = Number(byId("weight").value);
    byId("least").textContent = least.toFixed(2);
    for (const edge of edges) edge.place.classList.toggle("gone", edge.kind === "RELATED" && edge.weight < least);
  }

  byId("search").addEventListener("input", () => { current = -1; keep(null); search(); captions(); });
  byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") next(); });
  byId("weight").addEventListener("input", filter);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") keep(null); });

  // --- moving about

  const centre = (node) => {
    const box = graph.getBoundingClientRect();
    return { clientX: box.left + view.x + node.x * view.scale, clientY: box.top + view.y + node.y * view.scale };
  };

  // From afar points stay large enough to be seen and hit.
  let grown = 1;
  function grow() {
    const wanted = Math.max(1, SMALLEST / view.scale);
    if (wanted === grown) return;
    grown = wanted;
    for (const node of nodes) node.place.setAttribute("transform", `translate(${node.x} ${node.y}) scale(${grown})`);
    for (const edge of edges) edge.line.setAttribute("stroke-width", edge.width * grown);
  }

  function draw() {
    grow();
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    captions();
  }

  // Captions keep their size at every distance and cover no point; where two would overlap
  // the weightier stays.
  const RANK = { question: 3, start: 3, evidence: 2, result: 1, note: 0 };
  const order = [...nodes].sort((a, b) => RANK[b.role] - RANK[a.role] || b.edges.length - a.edges.length || b.weight - a.weight);

  function captions() {
    const box = graph.getBoundingClientRect();
    const taken = nodes.map((node) => {
      const x = view.x + node.x * view.scale, y = view.y + node.y * view.scale, r = node.radius * grown * view.scale;
      return [x - r, y - r, x + r, y + r];
    });
    const found = new Set(hits);
    for (const node of [...order.filter((each) => found.has(each)), ...order.filter((each) => !found.has(each))]) {
      const x = view.x + node.x * view.scale;
      const y = view.y + (node.y + node.radius * grown) * view.scale + CAPTION_GAP;
      const area = [x - node.half, y, x + node.half, y + CAPTION_HEIGHT];
      const outside = area[2] < 0 || area[0] > box.width || area[3] < 0 || area[1] > box.height;
      const free = !outside && taken.every((other) => area[0] > other[2] || area[2] < other[0] || area[1] > other[3] || area[3] < other[1]);
      node.label.classList.toggle("gone", !free);
      if (!free) continue;
      taken.push(area);
      node.label.setAttribute("x", x);
      node.label.setAttribute("y", y + 11);
    }
  }

  function fit() {
    const box = graph.getBoundingClientRect();
    const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
    const low = [Math.min(...xs), Math.min(...ys)], high = [Math.max(...xs), Math.max(...ys)];
    const scale = Math.min((box.width - 2 * MARGIN) / Math.max(1, high[0] - low[0]), (box.height - 2 * MARGIN) / Math.max(1, high[1] - low[1]));
    view.scale = Math.min(1.6, Math.max(ZOOM[0], scale));
    view.x = box.width / 2 - view.scale * (low[0] + high[0]) / 2;
    view.y = box.height / 2 - view.scale * (low[1] + high[1]) / 2;
    draw();
  }

  function zoom(factor, x, y) {
    const scale = Math.min(ZOOM[1], Math.max(ZOOM[0], view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    draw();
  }

  graph.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = graph.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  let drag = null;
  graph.addEventListener("pointerdown", (event) => { drag = { x: event.clientX - view.x, y: event.clientY - view.y, moved: false }; });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const x = event.clientX - drag.x, y = event.clientY - drag.y;
    drag.moved ||= Math.hypot(x - view.x, y - view.y) > 3;
    if (!drag.moved) return;
    graph.classList.add("dragging");
    view.x = x; view.y = y;
    draw();
  });
  window.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved && event.target === graph) keep(null);
    drag = null;
    graph.classList.remove("dragging");
  });
  const middle = (factor) => { const box = graph.getBoundingClientRect(); zoom(factor, box.width / 2, box.height / 2); };
  byId("in").addEventListener("click", () => middle(1.4));
  byId("out").addEventListener("click", () => middle(1 / 1.4));
  byId("fit").addEventListener("click", fit);
  window.addEventListener("resize", fit);

  // --- what it all means

  function explain(draw_, text) {
    const item = byId("legend").appendChild(document.createElement("li"));
    const sample = make(item, "svg", { viewBox: "0 0 26 12", "aria-hidden": "true" });
    draw_(sample);
    item.appendChild(document.createTextNode(text));
  }

  function legend() {
    for (const group of groups.slice(0, COLOURS.length)) explain((at) => make(at, "circle", { cx: 13, cy: 6, r: 5, fill: colour(group) }), group);
    if (groups.length > COLOURS.length) explain(() => {}, `and ${groups.length - COLOURS.length} authors more, in the same colours`);
    const kinds = new Set(edges.map((edge) => edge.kind));
    const lines = [["RELATED", "similar, wider is stronger"], ["FOLLOWS", "next in its source"], ["SUPERSEDES", "newer, says otherwise"], ["same source", "of the same source"], ["seed", "found by the question"]];
    for (const [kind, text] of lines) {
      if (!kinds.has(kind)) continue;
      explain((at) => make(make(at, "g", { class: `edge ${kind.replace(" ", "-")}` }), "path", { class: "line", d: "M0 6H26", "stroke-width": 2 }), text);
    }
    if (edges.some((edge) => edge.walked && edge.kind !== "seed")) explain((at) => make(make(at, "g", { class: "edge RELATED walked" }), "path", { class: "line", d: "M0 6H26", "stroke-width": 2 }), "walked to find a note");
    if (nodes.some((node) => node.role === "evidence")) explain((at) => make(make(at, "g", { class: "node evidence" }), "circle", { cx: 13, cy: 6, r: 4, fill: NOBODY }), "evidence");
    if (nodes.some((node) => node.role === "start")) explain((at) => make(make(at, "g", { class: "node start" }), "circle", { cx: 13, cy: 6, r: 4, fill: NOBODY }), "where it starts");
  }

  const notes = nodes.filter((node) => node.role !== "question").length;
  const links = edges.filter((edge) => edge.kind === "RELATED").length;
  const count = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;
  const rest = picture.leftOut ? `, ${picture.leftOut} more not shown` : "";
  byId("counts").textContent = `${count(notes, "note")}, ${count(links, "link")}${rest}`;
  if (!links) byId("filter").classList.add("gone");
  const weights = edges.filter((edge) => edge.kind === "RELATED").map((edge) => edge.weight);
  if (weights.length) byId("weight").min = byId("weight").value = Math.floor(100 * Math.min(...weights)) / 100;
  legend();
  filter();
  fit();
})();
