// SPDX-License-Identifier: MIT
// Runs in a headless browser: opens every page in a frame, at each width, light and dark, and posts what is wrong.
(async () => {
    const faults = [];
    let checked = 0;
    const frame = document.createElement("iframe");
    frame.style.border = "0";
    frame.style.height = "900px";
    document.body.append(frame);

    const open = (url) => new Promise((resolve) => {
        frame.onload = () => resolve(frame.contentDocument);
        frame.src = url;
    });
    const channels = (colour) => {
        const found = colour.match(/[\d.]+/g).map(Number);
        return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
    };
    const luminance = (rgb) => {
        const [r, g, b] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const over = (top, below) => top.rgb.map((value, at) => value * top.alpha + below[at] * (1 - top.alpha));
    const backgrounds = new Map();
    const background = (element, view) => {
        if (!element) return [255, 255, 255];
        if (!backgrounds.has(element)) {
            const own = channels(view.getComputedStyle(element).backgroundColor);
            backgrounds.set(element, own.alpha === 1 ? own.rgb : over(own, background(element.parentElement, view)));
        }
        return backgrounds.get(element);
    };
    const named = (element) => `${element.tagName.toLowerCase()}${element.className && typeof element.className === "string" ? "." + element.className.trim().split(/\s+/)[0] : ""}`;

    function contrast(page, where) {
        const view = page.defaultView, seen = new Set();
        const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (seen.has(element) || !walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(element.tagName)) continue;
            seen.add(element);
            if (!element.getClientRects().length) continue;
            const style = view.getComputedStyle(element);
            if (style.visibility === "hidden" || style.opacity === "0" || style.fontSize === "0px" || element.closest("svg")) continue;
            const below = background(element, view), colour = over(channels(style.color), below);
            const [high, low] = [luminance(colour), luminance(below)].sort((a, b) => b - a);
            const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
            const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
            if (ratio < (large ? 3 : 4.5) - 0.005) {
                faults.push(`${where}: ${named(element)} "${walker.currentNode.data.trim().slice(0, 30)}": contrast ${ratio.toFixed(2)}`);
            }
        }
    }

    function overflow(page, where) {
        const root = page.documentElement, view = page.defaultView;
        if (root.scrollWidth > root.clientWidth + 1) faults.push(`${where}: the page is ${root.scrollWidth} wide`);
        for (const element of page.querySelectorAll("article *")) {
            const box = element.getBoundingClientRect();
            if (!box.width || box.right <= root.clientWidth + 1) continue;
            let parent = element.parentElement;
            while (parent && !["auto", "scroll", "hidden"].includes(view.getComputedStyle(parent).overflowX)) parent = parent.parentElement;
            if (!parent || parent === page.body || parent === root) {
                faults.push(`${where}: ${named(element)} ends at ${Math.round(box.right)}`);
                break;
            }
        }
    }

    try {
        for (const path of window.pages) {
            await fetch(`/-at/${encodeURIComponent(path)}`);
            for (const width of window.widths) {
                frame.style.width = `${width}px`;
                const page = await open(`/${path}`);
                for (const theme of ["light", "dark"]) {
                    const where = `${path}, ${width} pixels, ${theme}`;
                    page.body.dataset.theme = theme;
                    backgrounds.clear();
                    contrast(page, where);
                    overflow(page, where);
                    ++checked;
                }
            }
        }
        let page = await open("/search.html?q=Residual");
        for (let wait = 0; wait < 100 && !page.querySelector("ul.search li a"); ++wait) await new Promise((next) => setTimeout(next, 100));
        if (!page.querySelector("ul.search li a")) faults.push("search.html: finds no page with Residual");
        page = await open("/docs/explore.html");
        const first = () => page.querySelector("#explore tbody td.number")?.textContent;
        const button = [...page.querySelectorAll("#explore th button")].find((each) => each.textContent === "ratio");
        if (!button) faults.push("docs/explore.html: has no table");
        else {
            const least = first();
            button.click();
            const most = first();
            if (!(Number(least) < Number(most))) faults.push(`docs/explore.html: sorting by ratio gives ${least}, then ${most}`);
            const before = page.querySelector("#explore p").textContent;
            const select = page.querySelector("#explore select");
            select.value = select.options[1].value;
            select.onchange();
            const file = page.querySelectorAll("#explore select")[1];
            file.value = "";
            file.onchange();
            if (page.querySelector("#explore p").textContent === before) faults.push("docs/explore.html: a filter changes nothing");
        }
    } catch (error) {
        faults.push(`the check failed: ${error.stack}`);
    }
    await fetch("/-result", { method: "POST", body: JSON.stringify({ checked, faults }) });
})();
