"""Draw the pictures of README and docs from the bundled example into docs/images/.

Pages that save a picture themselves draw it with ``python -m tests.project.snippets PAGE``.

The first one also shows the truth. The others are pueval's displays, and a screenshot of the report
if Chromium is installed.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from demo import load

from pueval import Counts, evaluate
from pueval.displays import (
    ComparisonDisplay,
    MeasureByThresholdDisplay,
    PrecisionRecallDisplay,
    RankCdfDisplay,
    RocCurveDisplay,
    ScoreDistributionDisplay,
    SensitivityDisplay,
)

FOLDER = Path(__file__).parent.parent / "docs" / "images"
COLORS = {"naive": "#b3b3b3", "corrected": "#0b6e99", "truth": "#e07b39"}
FOUR = ("accuracy", "balanced_accuracy", "f1", "matthews_corrcoef")


def save(name, figure):
    figure.savefig(FOLDER / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
    print(f"docs/images/{name}.png")


def draw_truth(data, ev):
    """Draw naive, corrected and true curves: the picture of the README."""
    true_counts = Counts.from_arrays(
        data["truth"], data["logistic"], unlabeled_label=None, negative_label=0
    )
    true = evaluate(true_counts, threshold=ev.threshold)
    curves = {
        "naive": (ev.roc(naive=True), ev.pr(naive=True), "naive"),
        "truth": (true.roc(), true.pr(), "value"),
        "corrected": (ev.roc(), ev.pr(), "value"),
    }
    looks = {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(looks):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
        for kind, (roc, pr, which) in curves.items():
            source = true if kind == "truth" else ev
            style = {"color": COLORS[kind], "lw": 2.2, "ls": "--" if kind == "truth" else "-"}
            area, precision = (
                getattr(source[name], which) for name in ("roc_auc", "average_precision")
            )
            left.plot(roc.fpr, roc.tpr, label=f"{kind} (AUC {area:.3f})", **style)
            right.plot(
                pr.recall,
                pr.precision,
                label=f"{kind} (average precision {precision:.3f})",
                drawstyle="steps-pre",
                **style,
            )
        left.set(xlabel="False positive rate", ylabel="True positive rate", title="ROC curve")
        right.set(xlabel="Recall", ylabel="Precision", title="Precision-recall curve")
        for axes in (left, right):
            axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), aspect="equal")
            axes.grid(color="#eeeeee")
            corner = "lower left" if axes is right else "lower right"
            axes.legend(loc=corner, frameon=False, fontsize=9)
        figure.savefig(FOLDER / "spambase.png", dpi=160)
        plt.close(figure)
    print("docs/images/spambase.png")


def photograph_report(ev):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("docs/images/report.png needs Chromium; skipped")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        ev.to_html(page, name="logistic")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        subprocess.run(  # noqa: S603
            [chromium, *options, "--disable-background-networking", "--window-size=1200,1205",
             f"--screenshot={FOLDER / 'report.png'}", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
    print("docs/images/report.png")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    data = load()
    label, score = data["label"], data["logistic"]
    prior = data["truth"][label == 0].mean()
    ev = evaluate(label, score, prior=prior)
    estimated = evaluate(label, score)
    draw_truth(data, estimated)
    photograph_report(estimated)

    save("overview", ev.plot().figure_)
    save("roc_curve", RocCurveDisplay.from_evaluation(ev, name="logistic").figure_)
    save(
        "precision_recall",
        PrecisionRecallDisplay.from_evaluation(ev, name="logistic", plot_chance_level=True).figure_,
    )
    save("score_distribution", ScoreDistributionDisplay.from_evaluation(ev).figure_)
    save(
        "score_distribution_rank",
        ScoreDistributionDisplay.from_evaluation(ev, scale="rank").figure_,
    )
    save("rank_cdf", RankCdfDisplay.from_evaluation(ev).figure_)

    figure, axes = plt.subplots(2, 2, figsize=(9.6, 7.6), layout="constrained")
    for measure, ax in zip(FOUR, axes.flat, strict=True):
        MeasureByThresholdDisplay.from_evaluation(ev, measure=measure, ax=ax, despine=True)
    save("measure_by_threshold", figure)

    save("sensitivity", SensitivityDisplay.from_evaluation(estimated, measure="roc_auc").figure_)
    models = {name: evaluate(label, data[name], prior=prior) for name in ("boosting", "logistic")}
    save("comparison", ComparisonDisplay.from_evaluations(models).figure_)


if __name__ == "__main__":
    main()
