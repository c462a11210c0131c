"use strict";
(() => {
  const MORE = 200;
  window.addEventListener("error", () => { document.body.dataset.broken = "yes"; });

  const element = (tag, text, cls) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (cls) made.className = cls;
    return made;
  };

  // Rows that are there already: those that do not match are hidden.
  const standing = (table) => {
    const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
    return (matches) => {
      let shown = 0;
      for (const [row, text] of rows) {
        row.hidden = !matches(text);
        if (!row.hidden) shown += 1;
      }
      return [shown, rows.length];
    };
  };

  // Rows that are data: as many as a person reads are made.
  const made = (table, data) => {
    const texts = data.map((row) => row.join(" ").toLowerCase());
    const body = table.tBodies[0];
    const more = element("button", "Show more");
    more.type = "button";
    table.parentElement.after(more);
    let found = [];
    const add = () => {
      const from = body.rows.length;
      for (const index of found.slice(from, from + MORE)) {
        const row = element("tr", undefined, data[index][0]);
        data[index].slice(1).forEach((cell, column) => {
          row.append(element("td", cell, ["word", "id"][column]));
        });
        body.append(row);
      }
      more.hidden = body.rows.length >= found.length;
    };
    more.addEventListener("click", add);
    return (matches) => {
      found = [];
      texts.forEach((text, index) => { if (matches(text)) found.push(index); });
      body.replaceChildren();
      add();
      return [found.length, data.length];
    };
  };

  for (const input of document.querySelectorAll("input[data-table]")) {
    const table = document.getElementById(input.dataset.table);
    const data = document.getElementById(input.dataset.table + "-data");
    const show = data ? made(table, JSON.parse(data.textContent)) : standing(table);
    const says = input.closest(".filter").querySelector(".shown");
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const [shown, all] = show((text) => words.every((word) => text.includes(word)));
      says.textContent = shown + " of " + all;
    };
    input.addEventListener("input", apply);
    const wanted = new URLSearchParams(location.hash.slice(1)).get(input.dataset.table);
    if (wanted !== null) input.value = wanted;
    apply();
  }

  // A figure as PNG, for those who paste.
  for (const figure of document.querySelectorAll("figure.plot, figure")) {
    const svg = figure.querySelector("svg");
    if (!svg) continue;
    const button = element("button", "PNG");
    button.type = "button";
    button.title = "Save this figure as PNG";
    button.addEventListener("click", () => {
      const copy = svg.cloneNode(true);
      const from = [svg, ...svg.querySelectorAll("*")];
      [copy, ...copy.querySelectorAll("*")].forEach((one, index) => {
        const style = getComputedStyle(from[index]);
        for (const name of ["fill", "stroke", "color", "font-family", "font-size", "stroke-width"]) {
          one.style.setProperty(name, style.getPropertyValue(name));
        }
      });
      const box = svg.viewBox.baseVal;
      copy.setAttribute("width", box.width);
      copy.setAttribute("height", box.height);
      copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
      const image = new Image();
      image.onload = () => {
        const canvas = element("canvas");
        [canvas.width, canvas.height] = [box.width * 2, box.height * 2];
        const context = canvas.getContext("2d");
        context.fillStyle = getComputedStyle(document.body).backgroundColor;
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        const link = element("a");
        link.href = canvas.toDataURL("image/png");
        link.download = "figure.png";
        link.click();
      };
      image.src = "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
    });
    figure.querySelector("figcaption").append(" ", button);
  }
  document.body.dataset.ready = "yes";
})();
