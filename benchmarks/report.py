"""Size of the report for many rows, and its time relative to the evaluation.

Usage: python benchmarks/report.py [rows]
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from speed import data

from pueval import evaluate

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
# Moves the slider of the prior and returns the milliseconds per move.
MOVES = """
() => {
  const slider = document.getElementById("prior");
  const times = [];
  return new Promise((done) => {
    const move = () => {
      if (times.length === 20) return done(times);
      const start = performance.now();
      slider.value = 200 + 10 * times.length;
      slider.dispatchEvent(new Event("input"));
      requestAnimationFrame(() => setTimeout(() => {
        times.push(performance.now() - start);
        move();
      }));
    };
    move();
  });
}
"""


def seconds(function, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def milliseconds_per_move(path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(path.as_uri())
        times = sorted(page.evaluate(MOVES))
        browser.close()
    return times[len(times) // 2]


def main(n):
    label, score, prior = data(n)
    path = Path(tempfile.mkdtemp()) / "report.html"
    for what, given in (("prior given", {"prior": prior}), ("prior estimated", {})):
        evaluating, ev = seconds(lambda given=given: evaluate(label, score, **given))
        writing, _ = seconds(lambda ev=ev: ev.to_html(path))
        print(
            f"{n:,} rows, {what}: writing takes {writing / evaluating:.2f} times as long as the "
            f"evaluation ({writing:.2f} s and {evaluating:.2f} s); {path.stat().st_size:,} bytes."
        )
    if CHROMIUM:
        print(f"Moving a slider redraws everything in {milliseconds_per_move(path):.0f} ms.")
    path.unlink()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
