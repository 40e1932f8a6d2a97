#!/usr/bin/env python3
"""Looks at pages of `dimple run --report` in headless Chromium, which Debian's package chromium provides.

  tools/report_page.py PAGE...                        checks each page at three widths, light and dark
  tools/report_page.py PAGE --picture FILE --size WxH [--scale N] [--dark]    also writes a picture

A check fails on an error of a script, on dispatches, nodes or blocks that are not drawn, on text that leaves its box or
lies over other text, and on a page that is wider than the window. Each says what it found; the exit code is 1 then.
"""

import argparse
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ERRORS = "<script>const pageErrors = []; addEventListener('error', e => pageErrors.push(e.message));</script>"
CHECK = """<script>addEventListener('load', () => setTimeout(() => {
  const found = pageErrors.map(e => 'script: ' + e);
  const expect = (what, given, wanted) => { if (given !== wanted) found.push(`${what}: ${given}, expected ${wanted}`); };
  const count = selector => document.querySelectorAll(selector).length;
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) found.push(`the page is ${wide} pixels wide, expected at most ${innerWidth}`);
  if (typeof timed !== 'undefined') {
    const graph = report.graphs[document.getElementById('graph') ? Number(document.getElementById('graph').value)
      : 0];
    expect('marks of the timeline', count('#timeline rect.mark'), timed.length + (runs.length > 1 ? runs.length : 0));
    expect('rows of dispatches', count('#dispatches tr.row'), Math.min(timed.length, kShownRows));
    for (const side of graph.after ? ['before', 'after'] : ['before']) {
      const drawn = Math.min(kDrawnNodes, graph[side].nodes.filter(n => !n.initialization).length);
      expect(`nodes ${side}`, count(`#graph-${side} .node:not(.slot)`), drawn);
    }
    expect('cards of tensors', count('.card'), report.tensors.length);
    for (const image of document.images) if (!image.naturalWidth) found.push('a picture is broken: ' + image.alt);
  }
  for (const node of document.querySelectorAll('.node')) {
    const box = node.querySelector('.box').getBBox();
    for (const text of node.querySelectorAll('text'))
      if (text.getBBox().x + text.getBBox().width > box.width + 1) found.push('text leaves its node: ' + text.textContent);
  }
  for (const svg of document.querySelectorAll('.panel > svg')) {
    const outer = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent)
      .map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([text, a], i) => {
      if (a.left < outer.left - 1 || a.right > outer.right + 1) found.push('text leaves its plot: ' + text);
      for (const [other, b] of texts.slice(i + 1))
        if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
          found.push(`"${text}" lies over "${other}"`);
    });
  }
  const result = document.createElement('pre');
  result.id = 'found';
  result.textContent = JSON.stringify(found);
  document.body.append(result);
}, 500))</script>"""


def chromium(page, size, dark, *arguments):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        sys.exit("report_page: Chromium is not installed.")
    with tempfile.TemporaryDirectory() as profile:
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=10000",
                   f"--user-data-dir={profile}", f"--window-size={size.replace('x', ',')}", *arguments]
        if dark:
            command.append("--blink-settings=preferredColorScheme=0")
        return subprocess.run([*command, pathlib.Path(page).resolve().as_uri()], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, timeout=180).stdout


def check(page, size, dark):
    text = pathlib.Path(page).read_text()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "page.html")
        pathlib.Path(copy).write_text(text.replace("<head>", "<head>" + ERRORS, 1).replace("</body></html>", CHECK + "</body></html>"))
        result = re.search(r'<pre id="found">(.*?)</pre>', chromium(copy, size, dark, "--dump-dom"), re.S)
    return json.loads(html.unescape(result.group(1))) if result else ["the checks did not run"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--picture")
    parser.add_argument("--size", default="1280x900")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--scale", default="1", help="of the picture, to that of the window")
    options = parser.parse_args()
    failed = False
    for page in options.pages:
        for size, dark in (("1400x900", False), ("1000x900", True), ("720x900", False)):
            for problem in check(page, size, dark):
                failed = True
                print(f"{page} at {size}{', dark' if dark else ''}: {problem}")
    if options.picture:
        chromium(options.pages[0], options.size, options.dark, f"--screenshot={os.path.abspath(options.picture)}", f"--force-device-scale-factor={options.scale}")
    if failed:
        sys.exit(1)
    print("report_page: nothing is wrong.")


main()
