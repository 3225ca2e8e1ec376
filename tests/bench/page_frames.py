#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frame times and the first paint of an HTML report in a headless browser, on the real clock.

  python3 tests/bench/page_frames.py BUILD

Writes the report of the browser test, with 200,000 events and 100,000 memory blocks, and extends it to 20 MB. Prints
the frame times of the first while zooming and panning, and the first paint of the second.
"""

import argparse
import http.server
import json
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))

import os

os.environ.setdefault("KYMO_BUILD", sys.argv[1] if len(sys.argv) > 1 else "build")
import report_page  # noqa: E402

# Frames while zooming and panning, each with a forced read-back of a pixel, so that drawing is included.
FRAMES = """
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
async function frames(view, part) {
  const times = [];
  view.range.set(view.range.first, view.range.first + part * (view.range.last - view.range.first));
  for (let i = 0; i < 60; ++i) {
    view.range.zoom(i % 2 ? 1.25 : 0.75);
    view.range.pan(0.01);
    const began = performance.now();
    view.frame();
    view.surface.context.getImageData(0, 0, 1, 1);
    times.push(performance.now() - began);
  }
  view.reset();
  return { median: median(times), slowest: Math.max(...times) };
}
"""

MEASURE = (
    FRAMES
    + """
await kymoReady;
const results = {};
const [timeline] = kymoTimelines;
const [curves, blocks, , segments] = kymoAreas;
for (const [name, view] of Object.entries({ timeline, curves, blocks, segments }))
  for (const part of [1, 0.1, 0.001]) results[`${name}, ${part} of the range`] = await frames(view, part);
const times = [];
for (let i = 0; i < 60; ++i) {
  const began = performance.now();
  segments.preview((curves.range.last * i) / 60);
  segments.frame();
  segments.surface.context.getImageData(0, 0, 1, 1);
  times.push(performance.now() - began);
}
results["segments at another time"] = { median: median(times), slowest: Math.max(...times) };
timeline.search("kernel 1");
results["timeline while searching"] = await frames(timeline, 1);
const began = performance.now();
timeline.choose({ track: timeline.tracks[0], i: 5, neighbours: 0 });
results["first details"] = performance.now() - began;
const ranged = performance.now();
timeline.selection.begin(0);
timeline.dragRange(timeline.range.last);
timeline.endRange();
results["summary of all events"] = performance.now() - ranged;
send(results);
"""
)

PAINT = """
const paints = () => performance.getEntriesByType("paint").map(({ name, startTime }) => [name, startTime]);
const wait = () => (paints().length ? send(Object.fromEntries(paints())) : setTimeout(wait, 20));
wait();
"""


class Server(http.server.ThreadingHTTPServer):
    """Serves one page and receives what its script sends."""

    def __init__(self, page):
        self.page = page.encode()
        self.results = queue.Queue()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.server.page)

    def do_POST(self):
        self.server.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def measured(page, script, profile):
    """The results of a script in the page, which the report's own policy would not allow to run."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page, count=1)
    send = 'const send = (results) => fetch("/", { method: "POST", body: JSON.stringify(results) });'
    server = Server(page.replace("</body>", f'<script type="module">{send}\n{script}</script></body>'))
    browser = subprocess.Popen(
        [
            report_page.CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
            "--window-size=1400,900",
            "--remote-debugging-port=0",
            f"http://127.0.0.1:{server.server_address[1]}/",
        ],
        stderr=subprocess.DEVNULL,
    )
    try:
        return server.results.get(timeout=180)
    finally:
        browser.terminate()
        browser.wait()
        server.shutdown()


def shown(value):
    return f"{value:.1f} ms" if not isinstance(value, dict) else ", ".join(f"{k} {v:.1f} ms" for k, v in value.items())


def padded(page, size):
    """The page with further sections of text before its footer, until it has this size."""
    paragraph = "<p>" + "A paragraph of a long report with some words in it. " * 12 + "</p>\n"
    chart = re.search(r'<figure class="chart">.*?</figure>', page, re.DOTALL).group(0)
    more = []
    total = len(page)
    while total < size:
        more.append(paragraph * 40 + chart)
        total += len(more[-1])
    return page.replace("<footer>", "".join(more) + "<footer>", 1)


def report_of(build, folder):
    kymo = [build / "bin" / "kymo"]
    report_page.write_charts(folder / "charts")
    run = ["run", "saxpy", "--set", "n=1000", "--steps", "1", "--warmup", "0", "--no-verify"]
    for words in (run, ["report", "./charts", "--out", "out", "--format", "html"]):
        subprocess.run(kymo + words, cwd=folder, check=True, capture_output=True)
    return (folder / "out" / "report.html").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build directory")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        page = report_of(build, work)
        for name, value in measured(page, MEASURE, work / "profile").items():
            print(f"{name:40} {shown(value)}")
        long_page = padded(page, 20_000_000)
        for i in range(3):
            paints = measured(long_page, PAINT, work / "profile")
            print(f"page of {len(long_page) / 1e6:.1f} MB, load {i + 1}: {shown(paints)}")


if __name__ == "__main__":
    main()
