"""Build the wheel, install it in an empty environment, and use it there.

Usage: python tools/wheel.py, or make wheel. Needs the network and a minute or more. Uses uv if it
is installed.
"""

import email
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "pueval"
NEEDED = ("py.typed", "priors/networks.npz", "report/assets/report.html.jinja")
UV = shutil.which("uv")
OLDEST = (3, 11)
# The example in the docstring of `evaluate`; prints the naive and the corrected AUC.
PROGRAM = """
import numpy as np
from pueval import evaluate

rng = np.random.default_rng(0)
positive = rng.random(20_000) < 0.3
score = rng.normal(size=20_000) + 2 * positive
labeled = positive & (rng.random(20_000) < 0.2)
auc = evaluate(labeled, score, prevalence=0.3)["roc_auc"]
print(f"{auc.naive:.2f} {auc.value:.2f}")
"""
COMMANDS = (
    "pueval evaluate scores.csv --label label --score model_a --prior 0.2",
    "pueval evaluate scores.csv --label label --score model_a",
    "pueval prior scores.csv --label label --score model_a",
)


def check(holds, what):
    """Exit with a message unless a condition holds; unlike `assert`, this is never disabled."""
    if not holds:
        sys.exit(f"wheel: {what}")


class Environment:
    """A virtual environment with nothing in it, used from an empty folder."""

    def __init__(self, folder):
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.folder = folder / "empty"
        self.folder.mkdir()
        if UV:
            make = [UV, "venv", "--quiet", "--python", sys.executable, folder / "env"]
        else:
            make = [sys.executable, "-m", "venv", folder / "env"]
        subprocess.run(make, check=True)
        # Nothing from outside may be found: neither the sources nor somebody's site-packages.
        self.variables = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        } | {"PYTHONNOUSERSITE": "1", "COLUMNS": "100"}

    def run(self, program, *arguments, fails=False):
        """Run a program of the environment; return what it printed."""
        done = subprocess.run(
            [self.bin / program, *arguments], cwd=self.folder, env=self.variables,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        check((done.returncode != 0) is fails, f"{program} {' '.join(arguments)}\n{printed}")
        return printed

    def install(self, *what):
        """Install packages with pip or uv."""
        if UV:
            python = [UV, "pip", "install", "--quiet", "--python", self.bin / "python"]
            subprocess.run([*python, *what], check=True, cwd=self.folder, env=self.variables)
        else:
            self.run("python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *what)

    def build(self, folder):
        """Build the wheel from the sources; return its path."""
        if UV:
            subprocess.run([UV, "build", "--quiet", "--wheel", "-o", folder, ROOT], check=True)
        else:
            self.run("python", "-m", "pip", "wheel", "-q", "--disable-pip-version-check",
                     "--no-deps", "-w", str(folder), str(ROOT))  # fmt: skip
        return next(folder.glob("pueval-*.whl"))


def contents(path):
    """Check that the wheel has the whole package, nothing else, and the licenses."""
    sources = {
        "pueval/" + file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
        [info] = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    inside = {name for name in names if not name.startswith(f"{info}/")}
    check(sources <= inside, f"missing: {sorted(sources - inside)}")
    check(inside <= sources, f"does not belong there: {sorted(inside - sources)}")
    for name in NEEDED:
        check(f"pueval/{name}" in inside, f"missing: {name}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    check(metadata["License-Expression"] == project["license"], "license differs from pyproject")
    texts = metadata.get_all("License-File")
    for text in ("LICENSE", "plot.LICENSES.txt", "plot.APACHE-2.0.txt"):
        check(any(Path(name).name == text for name in texts), f"missing: the license {text}")
    for name in texts:
        check(f"{info}/licenses/{name}" in names, f"missing: the license {name}")
    return metadata["Version"]


def python(environment, version):
    """Without any extra: a Python program runs, and the command line says what is missing."""
    origin = environment.run("python", "-c", "import pueval; print(pueval.__file__)")
    check(Path(origin.strip()).is_relative_to(environment.bin.parent), f"pueval is {origin}")
    printed = environment.run("python", "-c", "import pueval; print(pueval.__version__)").strip()
    check(printed == version, f"version {printed} in the package, {version} in the wheel")
    (environment.folder / "program.py").write_text(PROGRAM)
    printed = environment.run("python", "-W", "error", "program.py").strip()
    check(printed == "0.81 0.92", f"naive and corrected AUC are {printed}")
    missing = environment.run("pueval", "--version", fails=True)
    check("pueval[cli]" in missing, f"without the extra, the command printed: {missing}")


def commands(environment):
    """With the extra ``cli``: evaluate a file with known truth."""
    environment.run(
        "pueval", "simulate", "drawn.csv", "--model", "binormal", "--separation", "2",
        "--rows", "20000", "--prevalence", "0.3", "--label-frequency", "0.2", "--seed", "1",
    )  # fmt: skip
    drawn = (environment.folder / "drawn.csv").read_text()
    header, rows = drawn.split("\n", 1)
    scores = environment.folder / "scores.csv"
    scores.write_text(header.replace("score", "model_a") + "\n" + rows)
    for line in COMMANDS:
        printed = environment.run(*shlex.split(line))
        check("ROC AUC" in printed or "consensus" in printed, f"{line}\n{printed}")
    environment.run("pueval", "evaluate", "scores.csv", "--label", "label", "--score", "model_a",
                    "--prevalence", "0.3", "--json", "out.json")  # fmt: skip
    content = json.loads((environment.folder / "out.json").read_text())
    auc = content["models"]["model_a"]["measures"]["roc_auc"]
    truth = 0.5 * (1 + 0.842700792949715)  # Φ(2/√2)
    check(abs(auc["value"] - truth) < 0.02 < truth - auc["naive"], f"AUC {auc}, truth {truth}")


def lowest(environment, path):
    """With the oldest supported dependencies: the same, other engines, page, picture, README."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = ("cli", "pandas", "plot", "report", "polars", "dask")
    optional = [pin for extra in extras for pin in project["optional-dependencies"][extra]]
    pins = [pin.replace(">=", "==") for pin in (*project["dependencies"], *optional)]
    environment.install(f"pueval[{','.join(extras)}] @ {path.as_uri()}", *pins)
    commands(environment)
    for engine in ("polars", "dask"):
        environment.run("pueval", "evaluate", "scores.csv", "--label", "label", "--score",
                        "model_a", "--prior", "0.25", "--engine", engine)  # fmt: skip
    environment.run("pueval", "evaluate", "scores.csv", "--label", "label", "--score", "model_a",
                    "--prior", "0.25", "--html", "page.html")  # fmt: skip
    check((environment.folder / "page.html").stat().st_size > 100_000, "no page was written")
    code = (
        "import pandas, pueval; rows = pandas.read_csv('scores.csv'); "
        "pueval.evaluate(rows.label, rows.model_a).plot().figure_.savefig('picture.png')"
    )
    environment.run("python", "-c", code)
    check((environment.folder / "picture.png").stat().st_size > 10_000, "no picture was drawn")
    shutil.copytree(ROOT / "examples", environment.folder / "examples")
    readme = (ROOT / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL))
    (environment.folder / "readme.py").write_text(code)
    printed = environment.run("python", "readme.py")
    expected = re.search(r"naive [\d.]+, corrected [\d.]+", readme)
    check(expected and expected[0] in printed, f"the README's Python printed: {printed}")


def main():
    """Build the wheel, check its contents, install it, use it."""
    with tempfile.TemporaryDirectory(prefix="pueval-wheel-") as scratch:
        folder = Path(scratch).resolve()
        environment = Environment(folder)
        path = environment.build(folder / "dist")
        version = contents(path)
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB; contents and licenses are right")
        environment.install(str(path))
        python(environment, version)
        print("without extras: a Python program runs")
        environment.install(f"pueval[cli] @ {path.as_uri()}")
        commands(environment)
        print("with pueval[cli]: the commands run and find the truth")
        if sys.version_info[:2] == OLDEST:  # older packages have no wheels for newer Pythons
            (folder / "oldest").mkdir()
            lowest(Environment(folder / "oldest"), path)
            print("with the oldest supported dependencies: all of that, too")


if __name__ == "__main__":
    main()
