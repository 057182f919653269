"""Draw the picture of the README: naive, corrected and true curves of the bundled example."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from demo import load

from pueval import Counts, evaluate

COLORS = {"naive": "#b3b3b3", "corrected": "#0b6e99", "truth": "#e07b39"}


def main():
    data = load()
    label, truth, score = data["label"], data["truth"], data["logistic"]
    ev = evaluate(label, score, prior=truth[label == 0].mean())
    known = Counts.from_arrays(truth, score, unlabeled_label=None, negative_label=0)
    true = evaluate(known, threshold=ev.threshold)
    curves = {
        "naive": (ev.roc(naive=True), ev.pr(naive=True), "naive"),
        "truth": (true.roc(), true.pr(), "value"),
        "corrected": (ev.roc(), ev.pr(), "value"),
    }
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
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
        axes.legend(loc="lower left" if axes is right else "lower right", frameon=False, fontsize=9)
    folder = Path(__file__).parent.parent / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "spambase.png", dpi=160)
    print("docs/images/spambase.png")


if __name__ == "__main__":
    main()
