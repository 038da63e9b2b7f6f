"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  // Light or dark: what the reader chose, else what the system says.
  const button = document.querySelector(".theme");
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = {
    get() { try { return localStorage.getItem("setwise-theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("setwise-theme", theme); } catch { /* not allowed here */ } },
  };
  const isDark = () => (root.dataset.theme || (night.matches ? "dark" : "light")) === "dark";
  const showTheme = () => button.setAttribute("aria-pressed", String(isDark()));
  const chosen = remembered.get();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remembered.set(root.dataset.theme);
    showTheme();
  });
  night.addEventListener("change", showTheme);
  showTheme();

  // Sorting: numbers by their value, largest first; names by the alphabet; what is missing last.
  const valueOf = (row, column, isNumber) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    if (!isNumber) return text;
    return text === "" ? null : Number(text);
  };
  const compare = (a, b, isNumber, direction) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (isNumber ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  };
  const sortBy = (table, heading, isNumber) => {
    const column = heading.cellIndex;
    const first = isNumber ? "descending" : "ascending";
    const second = isNumber ? "ascending" : "descending";
    const order = heading.getAttribute("aria-sort") === first ? second : first;
    const direction = order === "ascending" ? 1 : -1;
    for (const other of heading.parentNode.cells) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", order);
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [row, valueOf(row, column, isNumber)]);
    rows.sort((one, two) => compare(one[1], two[1], isNumber, direction));
    body.append(...rows.map(([row]) => row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const sort of table.querySelectorAll(".sort")) {
      const isNumber = sort.hasAttribute("data-number");
      sort.addEventListener("click", () => sortBy(table, sort.closest("th"), isNumber));
    }
  }

  // Filtering: rows of a table by what their first cell says and by their marks, cards by class and by name.
  const folded = (text) => text.trim().toLocaleLowerCase();
  const hideBut = (items, isShown, output) => {
    let shown = 0;
    for (const item of items) {
      item.hidden = !isShown(item);
      shown += Number(!item.hidden);
    }
    output.textContent = shown === items.length ? "" : `${shown} of ${items.length}`;
  };
  for (const control of document.querySelectorAll("[data-filters]")) {
    const rows = document.getElementById(control.dataset.filters).tBodies[0].rows;
    const controls = control.closest(".controls");
    const [name, mark] = [controls.querySelector("input"), controls.querySelector("select")];
    control.addEventListener("input", () => {
      const wanted = folded(name.value);
      hideBut(rows, (row) => folded(row.cells[0].textContent).includes(wanted)
        && (!mark || !mark.value || row.dataset.marks.split(" ").includes(mark.value)), controls.querySelector("output"));
    });
  }
  for (const list of document.querySelectorAll(".wrong")) {
    const cards = list.querySelectorAll(".cards > li");
    const output = list.querySelector("output");
    const control = (name) => list.querySelector(`[data-picks="${name}"]`);
    const update = () => {
      const [truth, answer] = [control("truth").value, control("answer").value];
      const wanted = folded(control("text").value);
      hideBut(cards, (card) => (!truth || card.dataset.truth === truth)
        && (!answer || card.dataset.answer === answer)
        && folded(card.querySelector("b").textContent).includes(wanted), output);
    };
    for (const one of list.querySelectorAll("[data-picks]")) one.addEventListener("input", update);
    for (const link of document.querySelectorAll(`.confusion a[href="#${list.id}"]`)) {
      link.addEventListener("click", () => {
        control("truth").value = link.dataset.truth;
        control("answer").value = link.dataset.answer;
        control("text").value = "";
        update();
      });
    }
  }

  // Pages of single sets: arrow keys turn them, Escape leads back.
  const openPage = () => {
    const name = location.hash.slice(1);
    const found = name ? document.getElementById(name) : null;
    return found && found.classList.contains("probe-page") ? found : null;
  };
  const turns = { ArrowLeft: "a.previous", ArrowRight: "a.next", Escape: "a.back" };
  document.addEventListener("keydown", (event) => {
    const page = openPage();
    const isBusy = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey
      || event.target.closest("input, select, .scroll");
    if (!page || isBusy || !(event.key in turns)) return;
    const link = page.querySelector(turns[event.key]);
    if (!link) return;
    event.preventDefault();
    link.click();
  });
  window.addEventListener("hashchange", () => {
    const page = openPage();
    if (page) page.querySelector("h2").focus({ preventScroll: true });
  });
})();
