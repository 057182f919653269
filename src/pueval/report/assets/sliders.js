"use strict";

// The four sliders, their boxes and what is written beside them.
const sliders = (() => {
  const { chosen, current, settings } = state;
  const { clip } = correction;
  const byId = (id) => document.getElementById(id);
  // Prior and purity must differ by at least this.
  const CONTRAST = 0.001;
  const LARGEST_BIAS = 10;
  const STEPS = 1000;

  // A range for the prior in which what fits the data takes up a good part.
  function priorRange(model) {
    const fitting = model.feasible ? 1.6 * model.largestPrior(1) : 4 * model.prior;
    const wanted = Math.max(fitting, 1.5 * model.prior, 0.01);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const sizes = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((m) => m * power);
    return Math.min(sizes.find((size) => size >= wanted - 1e-12), 1);
  }

  const scores = () => current().table.score.length;

  // How each slider's position and its value belong together.
  const SLIDERS = {
    prior: {
      steps: () => STEPS,
      position: (value) => (value / priorRange(current())) * STEPS,
      value: (position) => (position / STEPS) * priorRange(current()),
      get: () => settings(current()).mixture.prior,
      set(value) {
        const { purity } = settings(current()).mixture;
        chosen.prior = clip(value, 0, Math.max(purity - CONTRAST, 0));
      },
      digits: 4,
    },
    purity: {
      steps: () => STEPS,
      position: (value) => value * STEPS,
      value: (position) => position / STEPS,
      get: () => settings(current()).mixture.purity,
      set(value) {
        const { prior } = settings(current()).mixture;
        chosen.purity = clip(value, Math.min(prior + CONTRAST, 1), 1);
      },
      digits: 4,
    },
    bias: {
      steps: () => STEPS,
      position: (value) => (Math.log(value) / Math.log(LARGEST_BIAS)) * STEPS,
      value: (position) => Math.exp((position / STEPS) * Math.log(LARGEST_BIAS)),
      get: () => chosen.bias,
      set(value) {
        chosen.bias = clip(value, 1, 1e6);
      },
      digits: 3,
    },
    threshold: {
      // From the lowest score on the left to above all scores on the right.
      steps: scores,
      position: (value) => scores() - correction.reached(current().table, value),
      value: (position) => correction.thresholdAt(current().table, scores() - position),
      get: () => settings(current()).threshold,
      set(value) {
        const { table, exact } = current();
        // Between the scores that a thinned table has, it cannot count.
        const k = correction.reached(table, value);
        chosen.thresholds[chosen.model] = exact ? value : correction.thresholdAt(table, k);
      },
      digits: 6,
    },
  };

  // ------------------------------------------------------------------ what is written beside them

  const short = (value, digits = 3) => format.significant(value, digits);

  function priorText(model, { purity }) {
    if (model.known) return "There are no unlabeled rows.";
    if (model.propensities) return "With propensities, no limit of the prior is known.";
    const most = model.largestPrior(purity);
    if (purity < model.leastPurity(0)) return `No prior fits the data with purity ${short(purity)}.`;
    const fits = `Fits the data: 0 to ${short(most)}.`;
    if (!model.priorLimits) return fits;
    const [low, high] = model.priorLimits;
    const origin = model.prior_estimate ? "Estimated" : "Given";
    return `${fits} ${origin}: ${short(low, 2)} to ${short(high, 2)}.`;
  }

  function purityText(model, { prior }) {
    if (model.propensities) return "With propensities, labels are taken as clean.";
    if (model.known) return "";
    const least = model.leastPurity(prior);
    if (least > 1) return `No purity fits the data with prior ${short(prior)}.`;
    return `Fits the data: ${short(least)} to 1.`;
  }

  function biasText(model, { purity }) {
    if (model.known) return "There are no unlabeled rows.";
    if (model.propensities) return "Not with propensities, which say how labeling was biased.";
    if (!model.biasable) return "Only for the target “population”.";
    if (purity < 1) return "Only for clean labels (purity 1).";
    if (chosen.bias > 1) return "The small numbers are the bounds of each measure.";
    return "1 is random labeling; above it, measures get bounds.";
  }

  function thresholdText(model) {
    const k = correction.reached(model.table, settings(model).threshold);
    const { predicted } = correction.rates(model.naive.table, state.NAIVE, "population")(k);
    return `${format.percent(predicted)} of all rows are predicted positive.`;
  }

  // ------------------------------------------------------------------ showing them

  function place(element, from, to) {
    const [low, high] = [clip(from, 0, 1), clip(to, 0, 1)];
    element.style.left = `${100 * low}%`;
    element.style.width = `${100 * Math.max(high - low, 0)}%`;
  }

  // What fits the data, the limits of what was estimated or given, and what was evaluated.
  function showRail(name, fits, limits, evaluated) {
    const [first, second, mark] = byId(`${name}-control`).querySelector(".rail").children;
    place(first, ...fits);
    place(second, ...(limits ?? [0, 0]));
    const { position, steps } = SLIDERS[name];
    mark.style.left = `${100 * clip(position(evaluated) / steps(), 0, 1)}%`;
  }

  function show() {
    const model = current();
    const { mixture } = settings(model);
    for (const [name, slider] of Object.entries(SLIDERS)) {
      const [input, box] = [byId(name), byId(`${name}-number`)];
      const shown = format.significant(slider.get(), slider.digits);
      input.min = 0;
      input.max = slider.steps();
      input.step = 1;
      input.value = slider.position(slider.get());
      input.setAttribute("aria-valuetext", shown);
      if (document.activeElement !== box) box.value = shown;
    }
    const most = priorRange(model);
    const biasable = model.biasable && mixture.purity === 1;
    const limit = Math.min(model.largestPrior(mixture.purity), mixture.purity);
    showRail("prior", [0, limit / most], model.priorLimits?.map((x) => x / most), model.prior);
    showRail("purity", [model.leastPurity(mixture.prior), 1], model.purityLimits, model.purity);
    showRail("bias", [0, biasable ? 1 : 0], undefined, 1);
    showRail("threshold", [0, 1], undefined, model.threshold);
    byId("prior-range").textContent = priorText(model, mixture);
    byId("purity-range").textContent = purityText(model, mixture);
    byId("bias-range").textContent = biasText(model, mixture);
    byId("threshold-range").textContent = thresholdText(model);
    const off = { prior: model.known, purity: model.propensities, bias: !biasable };
    for (const [name, disabled] of Object.entries(off)) {
      byId(name).disabled = disabled;
      byId(`${name}-number`).disabled = disabled;
    }
    byId("reset").disabled = !(state.moved(model) || chosen.bias !== 1);
  }

  // Call `changed` whenever something was moved or typed.
  function listen(changed) {
    for (const [name, slider] of Object.entries(SLIDERS)) {
      byId(name).addEventListener("input", (event) => {
        slider.set(slider.value(Number(event.target.value)));
        changed();
      });
      const box = byId(`${name}-number`);
      const take = () => {
        const value = format.parse(box.value);
        const shown = format.significant(slider.get(), slider.digits);
        // What is shown is rounded: leaving the box as it was must not change the value.
        if (!Number.isNaN(value) && box.value !== shown) slider.set(value);
        box.value = format.significant(slider.get(), slider.digits);
        changed();
      };
      box.addEventListener("change", take);
      box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        take();
      });
    }
    byId("reset").addEventListener("click", () => {
      state.reset();
      changed();
      // The button is about to be disabled, and would lose the focus to nowhere.
      byId("controls").querySelector("input[type=range]:not(:disabled)").focus();
    });
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  return { listen, priorRange, show };
})();
