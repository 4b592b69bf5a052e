// SPDX-License-Identifier: MIT
// The table and the chart of docs/explore.md: filters, sorting, and the figures of the rows that are left.
(() => {
    const columns = ["machine", "date", "file", "pass", "type", "layout", "batch", "layer", "class", "ours, µs", "peer, µs", "peer", "command"];
    const filtered = ["machine", "file", "pass", "type", "layout", "batch", "class"];
    const shown = ["layer", "class", "ratio", "ours, µs", "peer, µs", "pass", "type", "layout", "batch", "machine", "date", "peer", "file", "command"];
    const numbers = ["ratio", "ours, µs", "peer, µs", "batch"];
    const most = 200;
    const root = document.getElementById("explore");
    const { texts, rows } = window.measured;
    const texted = new Set(["machine", "date", "file", "pass", "type", "layout", "layer", "class", "peer", "command"]);
    const all = rows.map((row) => {
        const each = {};
        columns.forEach((name, at) => { each[name] = texted.has(name) ? texts[row[at]] : row[at]; });
        each.ratio = each["peer, µs"] / each["ours, µs"];
        return each;
    });
    const chosen = { file: "bench/results/h200/zoo_quarter.csv", pass: "forward", layout: "nhwc", batch: "32" };
    let words = "", order = "ratio", ascending = true;

    const make = (name, parent, text) => {
        const element = document.createElement(name);
        if (text !== undefined) element.textContent = text;
        parent.append(element);
        return element;
    };
    const filters = make("div", root);
    filters.className = "filters";
    for (const name of filtered) {
        const label = make("label", filters, name);
        const select = make("select", label);
        const values = [...new Set(all.map((each) => String(each[name])))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
        for (const value of ["all", ...values]) make("option", select, value).value = value === "all" ? "" : value;
        select.value = chosen[name] ?? "";
        select.onchange = () => { chosen[name] = select.value; draw(); };
    }
    const label = make("label", filters, "layer contains");
    const input = make("input", label);
    input.oninput = () => { words = input.value; draw(); };
    const summary = make("p", root);
    summary.setAttribute("aria-live", "polite");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("role", "img");
    root.append(svg);
    const note = make("p", root);
    const scroll = make("div", root);
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    const table = make("table", scroll);
    const head = make("tr", make("thead", table));
    for (const name of shown) {
        const cell = make("th", head);
        const button = make("button", cell, name);
        button.onclick = () => {
            ascending = order === name ? !ascending : true;
            order = name;
            draw();
        };
    }
    const body = make("tbody", table);

    const compare = (a, b) => (numbers.includes(order) ? a[order] - b[order] : String(a[order]).localeCompare(String(b[order]), "en", { numeric: true }));

    function bars(left) {
        svg.replaceChildren();
        if (!left.length) return;
        const ratios = left.map((each) => each.ratio).sort((a, b) => a - b);
        const low = Math.floor(Math.log2(Math.min(0.5, ratios[0]))), high = Math.ceil(Math.log2(Math.max(2, ratios[ratios.length - 1])));
        const width = 800, height = 220, at = (ratio) => (height - 10) * (high - Math.log2(ratio)) / (high - low) + 5;
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.setAttribute("preserveAspectRatio", "none");
        svg.setAttribute("aria-label", `${ratios.length} ratios from ${ratios[0].toFixed(2)} to ${ratios[ratios.length - 1].toFixed(2)}, sorted`);
        const add = (name, attributes) => {
            const element = document.createElementNS("http://www.w3.org/2000/svg", name);
            for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
            svg.append(element);
        };
        ratios.forEach((ratio, number) => {
            const top = Math.min(at(ratio), at(1)), tall = Math.max(0.5, Math.abs(at(ratio) - at(1)));
            add("rect", { x: number * width / ratios.length, y: top, width: width / ratios.length, height: tall, class: ratio >= 1 ? "faster" : "slower" });
        });
        add("line", { x1: 0, x2: width, y1: at(1), y2: at(1), class: "axis" });
    }

    function draw() {
        const left = all.filter((each) => filtered.every((name) => !chosen[name] || String(each[name]) === chosen[name]) && each.layer.includes(words));
        left.sort((a, b) => (ascending ? 1 : -1) * compare(a, b));
        const sum = (name) => left.reduce((total, each) => total + each[name], 0);
        const mean = Math.exp(left.reduce((total, each) => total + Math.log(each.ratio), 0) / left.length);
        const least = Math.min(...left.map((each) => each.ratio));
        summary.textContent = left.length
            ? `${left.length} rows: geometric mean ${mean.toFixed(2)}, least ${least.toFixed(2)}, sum of times ${(sum("peer, µs") / sum("ours, µs")).toFixed(2)}.`
            : "No row has these values.";
        bars(left);
        note.textContent = "Every row's ratio, sorted, on a logarithmic axis; the line is 1." + (left.length > most ? ` The table shows the first ${most} rows.` : "");
        body.replaceChildren();
        for (const each of left.slice(0, most)) {
            const row = make("tr", body);
            for (const name of shown) {
                const value = each[name];
                make("td", row, name === "ratio" ? value.toFixed(2) : String(value)).className = numbers.includes(name) ? "number" : "";
            }
        }
        [...head.children].forEach((cell, at) => {
            if (shown[at] === order) cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
            else cell.removeAttribute("aria-sort");
        });
    }
    draw();
})();
