#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py SITE BROWSER

Checks the built site: every relative link has its file and its anchor; and in a headless browser (chromium), for every
page at two widths, light and dark: nothing is wider than the window, and text has a contrast of 4.5 (3 if it is large).
The search and the table of layers are used once. Prints each fault, and exits with 1 if there are any.
"""
import functools
import html.parser
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

WIDTHS = (390, 1280)
SECONDS = 900
SOURCES = 3  # of the pages that show a source file, which are alike


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        for name in ("href", "src"):
            if given.get(name):
                self.links.append(given[name])


def broken_links(site):
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not to.exists():
                yield f"{path.relative_to(site.resolve())}: {link}: there is no such file"
            elif parts.fragment and to in pages and urllib.parse.unquote(parts.fragment) not in pages[to].ids:
                yield f"{path.relative_to(site.resolve())}: {link}: no element has this id"


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/-check.html":
            self.answer(self.server.harness, "text/html")
        elif self.path.startswith("/-at/"):
            self.server.at = urllib.parse.unquote(self.path[5:])
            print(f"{self.server.at}   ", end="\r", file=sys.stderr, flush=True)
            self.answer(b"", "text/plain")
        elif self.path == "/-check.js":
            self.answer((pathlib.Path(__file__).parent / "check.js").read_bytes(), "text/javascript")
        else:
            super().do_GET()

    def do_POST(self):
        self.server.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(b"", "text/plain")
        self.server.finished.set()

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)


def pages_of(site):
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    sources = [page for page in pages if page.startswith("source/")]
    return [page for page in pages if page not in sources[SOURCES:]]


def in_browser(site, browser, pages):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(site)))
    server.harness = (f"<!doctype html><meta charset='utf-8'><body><script>window.pages={json.dumps(pages)};window.widths={json.dumps(WIDTHS)}"
                      "</script><script src='/-check.js'></script>").encode()
    server.finished, server.result, server.at = threading.Event(), None, "the first page"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        process = subprocess.Popen([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                    f"--user-data-dir={profile}", "--window-size=1400,1000",
                                    f"http://127.0.0.1:{server.server_port}/-check.html"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.finished.wait(SECONDS)
        process.terminate()
        process.wait()
    server.shutdown()
    if server.result is None:
        return 0, [f"the browser has not finished in {SECONDS} s: it was at {server.at}"]
    return server.result["checked"], server.result["faults"]


def main():
    site, browser = pathlib.Path(sys.argv[1]), sys.argv[2]
    faults = list(broken_links(site))
    pages = pages_of(site)
    checked, seen = in_browser(site, browser, pages)
    faults += seen
    expected = len(WIDTHS) * 2 * len(pages)
    if checked != expected:
        faults.append(f"{checked} of {expected} views were checked")
    print("\n".join(faults))
    print(f"{checked} views of pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
