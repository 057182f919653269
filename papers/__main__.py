"""Reproduce all papers: python -m papers [--full] [--jobs N]."""

from __future__ import annotations

import subprocess
import sys
import time

PAPERS = ("jain2017", "tabatabaei2020", "claesen2015", "hajizadeh2014", "ramola2019", "overview")


def main() -> None:
    """Run all papers, each in its own process; stop at the first failure."""
    begin = time.perf_counter()
    for paper in PAPERS:
        print(f"=== {paper}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"papers.{paper}", *sys.argv[1:]], check=False)
        if done.returncode:
            sys.exit(done.returncode)
    print(f"All papers: {(time.perf_counter() - begin) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
