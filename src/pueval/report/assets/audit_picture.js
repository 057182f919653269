"use strict";

// What an audit found: the propensity by score, and the audited rows.
const auditPicture = (() => {
  const { settings } = state;
  const { clip } = correction;
  const byId = (id) => document.getElementById(id);

  // Share of the height for the audited rows, at the top and at the bottom.
  const MARGIN = 0.09;
  // Pixels from the top to below the audited positives.
  const BELOW_TICKS = 24;

  // A function from a score and its rank to its place on the axis.
  function placeOn(axis) {
    const ends = [axis.edges[0], axis.edges[axis.edges.length - 1]];
    return (score, rank) => clip(axis.position(score, rank), ...ends);
  }

  // The propensity as steps: it is constant from each score to the next.
  function curvePoints({ score, rank, propensity, low, high }, place, end) {
    const points = score.map((s, k) => ({
      x: place(s, rank[k]),
      y: propensity[k],
      low: low[k],
      high: high[k],
      from: s,
    }));
    return [...points, { ...points[points.length - 1], x: end }];
  }

  // The places of audited rows. Where each score has a bar of its own, rows are spread across it.
  function tickPlaces({ score, rank }, { axis: kind, edges }, place) {
    if (kind !== "scores") return score.map((s, k) => place(s, rank[k]));
    const numbers = new Map();
    for (const s of score) numbers.set(s, (numbers.get(s) ?? 0) + 1);
    const seen = new Map();
    return score.map((s) => {
      const i = seen.get(s) ?? 0;
      seen.set(s, i + 1);
      return edges.indexOf(s) - 0.4 + (0.8 * (i + 0.5)) / numbers.get(s);
    });
  }

  const tickMarks = (places, y1, y2, stroke) =>
    Plot.ruleX(places, { x: (x) => x, y1, y2, stroke, strokeWidth: 1, strokeOpacity: 0.75 });

  function draw(figure, model) {
    const { audit, histogram } = model;
    const { threshold } = settings(model);
    const axis = scorePicture.scoreAxis(histogram);
    const ends = [axis.edges[0], axis.edges[axis.edges.length - 1]];
    const place = placeOn(axis);
    const points = curvePoints(audit.curve, place, ends[1]);
    const width = charts.widthOf(figure);
    const top = Math.min(1.05 * audit.curve.highest, 1);
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * roundTop(top)).filter((y) => y <= top);
    const [lowest, highest] = [-2 * MARGIN * top, (1 + 2 * MARGIN) * top];
    const [positives, negatives] = ["positive", "negative"].map((name) =>
      tickPlaces(audit.ticks[name], histogram, place),
    );
    const inside = (y) => clip(y, 0, top);
    const band = { x: "x", y1: ({ low }) => inside(low), y2: ({ high }) => inside(high) };
    charts.show(figure, {
      width,
      height: clip(width * 0.38, 220, 340),
      x: { domain: ends, label: axis.label, ticks: axis.ticks, tickFormat: axis.tickFormat },
      y: {
        domain: [lowest, highest],
        label: "Propensity",
        ticks,
        tickFormat: (y) => format.significant(y, 3),
      },
      marks: [
        Plot.gridY(ticks),
        Plot.areaY(points, { ...band, curve: "step-after", fill: model.color, fillOpacity: 0.2 }),
        Plot.line(points, {
          x: "x",
          y: ({ y }) => inside(y),
          curve: "step-after",
          stroke: model.color,
          strokeWidth: 2.25,
        }),
        Plot.ruleY([0], { stroke: "var(--axis)" }),
        tickMarks(positives, (1 + MARGIN) * top, highest, "var(--positive)"),
        tickMarks(negatives, lowest, -MARGIN * top, "var(--negative)"),
        ...scorePicture.thresholdMarks(
          axis.position(threshold, scorePicture.thresholdRank(model)), ends, threshold, BELOW_TICKS,
        ),
        Plot.tip(
          points.slice(0, -1),
          Plot.pointer({
            x: "x",
            y: ({ y }) => inside(y),
            title: ({ from, y, low, high }) =>
              `Scores from ${format.significant(from, 3)}\nPropensity ${format.number(y)}\n` +
              `${format.percent(audit.level)} CI ${format.span(low, high)}`,
            px: "x",
            py: () => 0,
            maxRadius: Infinity,
          }),
        ),
      ],
      description: `Propensity by score, with the audited rows. ${audit.sentences.join(" ")}`,
    });
  }

  // A round number at or above a value.
  function roundTop(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 4, 5, 8, 10].map((m) => m * power).find((end) => end >= value - 1e-12);
  }

  function show(model) {
    const section = byId("audit-section");
    if (!section) return;
    section.hidden = model.audit === null;
    if (section.hidden) return;
    for (const part of section.querySelectorAll(".model-audit")) {
      part.hidden = Number(part.dataset.model) !== model.index;
    }
    const figure = byId("audit");
    draw(figure, model);
    charts.showLegend(figure, [
      { mark: "thick", color: model.color, text: "propensity" },
      { mark: "band", color: model.color, text: `${format.percent(model.audit.level)} CI` },
      { mark: "upright", color: "var(--positive)", text: "audited positives (above)" },
      { mark: "upright", color: "var(--negative)", text: "audited negatives (below)" },
      { mark: "upright", color: "var(--text)", text: "threshold" },
    ]);
    const shown = ["positive", "negative"].reduce(
      (sum, name) => sum + model.audit.ticks[name].score.length, 0,
    );
    const all = format.count(model.audit.n_ticks);
    figure.querySelector(".note").textContent =
      "The propensity is the probability that a positive row is labeled." +
      (shown < model.audit.n_ticks
        ? ` The picture has ${format.count(shown)} of the ${all} audited rows.`
        : "");
  }

  return { show };
})();
