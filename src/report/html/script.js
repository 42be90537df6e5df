"use strict";
// Everything can be read without this; it adds a theme, keys, a view of one step at a time, and a search. Text is never parsed as HTML.
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (name, properties, ...inside) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...inside);
    return element;
  };

  // The theme that is not the one of the system.
  const theme = () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const button = make("button", { type: "button", id: "theme" });
    const name = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      name();
    });
    system.addEventListener("change", name);
    name();
    byId("tools").append(button);
  };

  // Keys that move in every list. A list has an attribute with the selector of its items.
  const movers = new Map();
  const move = (list, by) => {
    const items = [...list.querySelectorAll(list.dataset.items)].filter((item) => item.getClientRects().length > 0);
    // The item that has the focus, or the last one before it.
    const focus = document.activeElement;
    const isBefore = (item) => item.contains(focus) || item.compareDocumentPosition(focus) === Node.DOCUMENT_POSITION_FOLLOWING;
    const at = list.contains(focus) ? items.findLastIndex(isBefore) : -1;
    const item = items[Math.max(0, Math.min(items.length - 1, at + by))];
    if (!item) return;
    if (item.tabIndex < 0) item.tabIndex = -1;
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  };
  const isInView = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  };
  const keys = () => {
    let isOn = true;
    const text = "j and k move to the next and the previous item of a list: the one with the focus, or else the first in view. ? shows and hides this line.";
    const off = make("button", { type: "button", textContent: "Turn off these keys" });
    off.addEventListener("click", () => {
      isOn = !isOn;
      off.textContent = isOn ? "Turn off these keys" : "Turn on these keys";
    });
    const line = make("div", { id: "keys", className: "keys", hidden: true }, make("span", { textContent: text }), off);
    const button = make("button", { type: "button", textContent: "Keys" });
    button.setAttribute("aria-controls", "keys");
    const show = (isShown) => {
      line.hidden = !isShown;
      button.setAttribute("aria-expanded", String(isShown));
    };
    show(false);
    button.addEventListener("click", () => show(line.hidden));
    byId("tools").append(button);
    byId("tools").parentElement.append(line);
    document.addEventListener("keydown", (event) => {
      if (!isOn || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
      if (event.key === "?") show(line.hidden);
      const by = { j: 1, k: -1 }[event.key];
      if (!by) return;
      const own = event.target.closest("[data-items]");
      const lists = [...document.querySelectorAll("[data-items]")];
      const list = own && isInView(own) ? own : lists.find(isInView);
      if (!list) return;
      event.preventDefault();
      (movers.get(list) || move)(list, by);
    });
  };

  // Outputs that are not in the page until they are asked for, by id.
  const away = new Map();
  const fetched = (id) => {
    const output = away.get(id);
    if (!output) return null;
    document.querySelector(".outputs").append(output);
    away.delete(id);
    return output;
  };

  // What a link leads to may lie in something closed, or not be there yet.
  const reveal = (id) => {
    const target = id && (byId(id) || fetched(id));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
    target.classList.add("target");
    target.scrollIntoView({ block: target.classList.contains("l") ? "center" : "start" });
    const focus = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
    if (focus.tabIndex < 0) focus.tabIndex = -1;
    focus.focus({ preventScroll: true });
  };

  // One step at a time: of the chain, or of the statements of a slice. The result shows a step by its id, if it has one.
  const stepper = (box) => {
    const steps = [...box.querySelectorAll(".step")];
    const links = [...box.querySelectorAll(".overview a")];
    const button = (text, by) => {
      const made = make("button", { type: "button", textContent: text });
      made.addEventListener("click", () => go(at + by));
      return made;
    };
    const back = button("Previous", -1);
    const forth = button("Next", 1);
    const where = make("span", { className: "where-now" });
    where.setAttribute("role", "status");
    const hint = make("span", { className: "quiet", textContent: "or j, k and the arrow keys in this box" });
    box.querySelector(".steps").before(make("div", { className: "controls" }, back, forth, where, hint));
    let at = 0;
    const go = (next) => {
      at = Math.max(0, Math.min(steps.length - 1, next));
      steps.forEach((step, index) => { step.hidden = index !== at; });
      links.forEach((link, index) => {
        if (index === at) link.setAttribute("aria-current", "step");
        else link.removeAttribute("aria-current");
      });
      const list = links[at].closest(".overview");
      const fold = links[at].closest("details");
      if (fold) fold.open = true;
      const top = links[at].offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + links[at].offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 20;
      where.textContent = `${at + 1} of ${steps.length}`;
      // A button that is disabled loses the focus, and with it the keys.
      if (document.activeElement === back && at === 0) forth.focus();
      if (document.activeElement === forth && at === steps.length - 1) back.focus();
      back.disabled = at === 0;
      forth.disabled = at === steps.length - 1;
    };
    movers.set(box, (list, by) => {
      go(at + by);
      if (box.contains(document.activeElement)) return;
      box.focus({ preventScroll: true });
      box.scrollIntoView({ block: "nearest" });
    });
    const keys = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", box.querySelector(".overview").getAttribute("aria-label"));
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      // A source that is too wide is scrolled by these keys.
      const isSideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
      if (isSideways && event.target.closest(".source, .scroll")) return;
      const by = Object.hasOwn(keys, event.key) ? keys[event.key] : event.key === "Home" ? -steps.length : event.key === "End" ? steps.length : 0;
      if (!by) return;
      event.preventDefault();
      go(at + by);
    });
    links.forEach((link, index) => link.addEventListener("click", (event) => {
      event.preventDefault();
      go(index);
    }));
    go(0);
    return (id) => {
      const index = steps.findIndex((step) => step.id === id);
      if (index < 0) return null;
      go(index);
      return box;
    };
  };

  // The rows that are asked for, as many as fit into a view or two.
  const answers = () => {
    const table = byId("answers");
    if (!table) return;
    const portion = 200;
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const link = row.cells[6].querySelector("a");
      const output = link && byId(link.hash.slice(1));
      return { row, text: row.textContent.toLowerCase(), output: output && output.lastElementChild, phase: row.cells[1].textContent, outcome: row.cells[3].textContent };
    });
    body.replaceChildren();
    const outputs = document.querySelector(".outputs");
    if (outputs) {
      for (const output of outputs.children) away.set(output.id, output);
      outputs.replaceChildren(make("p", { className: "quiet", textContent: "An output appears here when its link is followed." }));
    }
    const select = (name, key) => {
      const values = [...new Set(rows.map((row) => row[key]))].sort();
      const made = make("select", { id: `filter-${key}` }, new Option("all", ""), ...values.map((value) => new Option(value, value)));
      made.addEventListener("change", show);
      return [made, make("label", {}, name, made)];
    };
    const search = make("input", { type: "search", id: "search", autocomplete: "off", placeholder: "revision, outcome, output" });
    let wait = 0;
    search.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(show, 80); });
    const [phase, phaseLabel] = select("For", "phase");
    const [outcome, outcomeLabel] = select("Outcome", "outcome");
    byId("filters").append(make("label", {}, "Search", search), phaseLabel, outcomeLabel);
    const more = make("button", { type: "button", className: "more", id: "more" });
    table.parentElement.after(more);
    byId("count").setAttribute("role", "status");
    let found = rows;
    let n = 0;
    const grow = () => {
      body.append(...found.slice(n, n + portion).map((entry) => entry.row));
      n = Math.min(found.length, n + portion);
      more.hidden = n >= found.length;
      more.textContent = `Show ${Math.min(portion, found.length - n)} more of ${found.length - n}`;
    };
    function show() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const cache = new Map();
      const said = (entry) => {
        if (!entry.output) return "";
        if (!cache.has(entry.output)) cache.set(entry.output, entry.output.textContent.toLowerCase());
        return cache.get(entry.output);
      };
      found = rows.filter((entry) => (!phase.value || entry.phase === phase.value)
        && (!outcome.value || entry.outcome === outcome.value)
        && words.every((word) => entry.text.includes(word) || said(entry).includes(word)));
      byId("count").textContent = `${found.length} of ${rows.length} answers`;
      body.replaceChildren();
      n = 0;
      grow();
    }
    more.addEventListener("click", grow);
    grow();
  };

  theme();
  keys();
  const steppers = [...document.querySelectorAll(".stepper")].map(stepper);
  answers();
  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const box = steppers.map((show) => show(id)).find(Boolean);
    if (box) box.scrollIntoView();
    else reveal(id);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    const hash = link && link.getAttribute("href");
    // The same place again is no change of the address.
    if (hash && hash === location.hash) follow();
  });
  addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
