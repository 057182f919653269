"use strict";

// The four sliders, their text boxes and the notes below them.
const sliders = (() => {
  const { chosen, current, settings } = state;
  const { clip } = correction;
  const byId = (id) => document.getElementById(id);
  // Smallest difference between purity and prior.
  const LEAST_CONTRAST = 0.001;
  const LARGEST_BIAS = 10;
  const STEPS = 1000;

  const short = (value, digits = 3) => format.significant(value, digits);

  // The end of the prior's axis: a round number somewhat above the largest feasible prior.
  function priorRange(model) {
    const feasible = model.feasible ? 1.6 * model.largestPrior(1) : 4 * model.prior;
    const needed = Math.max(feasible, 1.5 * model.prior, 0.01);
    const power = 10 ** Math.floor(Math.log10(needed));
    const ends = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((m) => m * power);
    return Math.min(ends.find((end) => end >= needed - 1e-12), 1);
  }

  const scoreCount = () => current().table.score.length;

  // A share that was typed. A number above 1 is a percentage: 35 means 35%.
  const readShare = (value) => (value > 1 && value <= 100 ? value / 100 : value);
  const shareProblem = (value) => (value >= 0 && value <= 1 ? "" : "must be from 0 to 1 (100%)");

  // How a slider's position translates to its value and back. `problem` says what is wrong with a
  // typed value.
  const SLIDERS = {
    prior: {
      steps: () => STEPS,
      position: (value) => (value / priorRange(current())) * STEPS,
      value: (position) => (position / STEPS) * priorRange(current()),
      get: () => settings(current()).mixture.prior,
      set(value) {
        const { purity } = settings(current()).mixture;
        chosen.prior = clip(value, 0, Math.max(purity - LEAST_CONTRAST, 0));
      },
      title: "Prior",
      read: readShare,
      problem(value) {
        const { purity } = settings(current()).mixture;
        if (shareProblem(value)) return shareProblem(value);
        return value < purity ? "" : `must be below the purity, ${short(purity)}`;
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
        chosen.purity = clip(value, Math.min(prior + LEAST_CONTRAST, 1), 1);
      },
      title: "Purity",
      read: readShare,
      problem(value) {
        const { prior } = settings(current()).mixture;
        if (shareProblem(value)) return shareProblem(value);
        return value > prior ? "" : `must be above the prior, ${short(prior)}, and at most 1`;
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
      title: "Labeling bias",
      read: (value) => value,
      problem: (value) => (value >= 1 && value <= 1e6 ? "" : "must be at least 1"),
      digits: 3,
    },
    threshold: {
      // From the lowest score on the left to above all scores on the right.
      steps: scoreCount,
      position: (value) => scoreCount() - correction.stepAt(current().table, value),
      value: (position) => correction.thresholdAt(current().table, scoreCount() - position),
      get: () => settings(current()).threshold,
      set(value) {
        const { table, exact } = current();
        // A thinned table has counts only at its scores.
        const k = correction.stepAt(table, value);
        chosen.thresholds[chosen.model] = exact ? value : correction.thresholdAt(table, k);
      },
      title: "Threshold",
      read: (value) => value,
      problem: () => "",
      digits: 6,
    },
  };

  // ------------------------------------------------------------------ notes below the sliders

  function priorNote(model, { purity }) {
    if (model.fullyLabeled) return "There are no unlabeled rows.";
    if (model.audited) {
      const [low, high] = model.priorInterval.map((end) => short(end, 2));
      return `The audit determines the prior. ${format.percent(model.auditLevel)} CI: ${low} to ${high}.`;
    }
    if (model.hasPropensities) return "With propensities, the data do not bound the prior.";
    const largest = model.largestPrior(purity);
    if (purity < model.leastPurity(0)) return `The data rule out purity ${short(purity)}.`;
    const feasible = `The data allow 0 to ${short(largest)}.`;
    if (!model.priorInterval) return feasible;
    const [low, high] = model.priorInterval.map((end) => short(end, 2));
    const level = model.prior_estimate && format.percent(model.prior_estimate.level);
    return `${feasible} ${level ? `${level} CI` : "Specified"}: ${low} to ${high}.`;
  }

  function purityNote(model, { prior }) {
    if (model.audited) {
      if (!model.purityInterval) return "No labeled row was audited: the purity is as specified.";
      const [low, high] = model.purityInterval.map((end) => short(end, 2));
      return `The audit determines the purity. ${format.percent(model.auditLevel)} CI: ${low} to ${high}.`;
    }
    if (model.hasPropensities) return "With propensities, labels are assumed to be clean.";
    if (model.fullyLabeled) return "";
    const least = model.leastPurity(prior);
    if (least > 1) return `The data rule out prior ${short(prior)}.`;
    return `The data allow ${short(least)} to 1.`;
  }

  function biasNote(model) {
    if (model.fullyLabeled) return "There are no unlabeled rows.";
    if (model.audited) return "The audit already measures the labeling bias.";
    if (model.hasPropensities) return "Propensities already describe the labeling bias.";
    if (chosen.bias > 1) return "The small numbers are bounds, without sampling error.";
    return "1 means random labeling; larger values give bounds.";
  }

  function thresholdNote(model) {
    const k = correction.stepAt(model.table, settings(model).threshold);
    const { predicted } = correction.rates(model.naive.table, state.NAIVE, "population")(k);
    return `${format.percent(predicted)} of all rows are predicted positive.`;
  }

  // ------------------------------------------------------------------ display

  function setExtent(element, from, to) {
    const [low, high] = [clip(from, 0, 1), clip(to, 0, 1)];
    element.style.left = `${100 * low}%`;
    element.style.width = `${100 * Math.max(high - low, 0)}%`;
  }

  // Show the feasible range, the interval of the estimate and the evaluated value.
  function showRail(name, feasible, interval, evaluated) {
    const [feasibleBar, intervalBar, mark] = byId(`${name}-control`).querySelector(".rail").children;
    setExtent(feasibleBar, ...feasible);
    setExtent(intervalBar, ...(interval ?? [0, 0]));
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
    const end = priorRange(model);
    const biasEnabled = model.biasAllowed;
    const largest = Math.min(model.largestPrior(mixture.purity), mixture.purity);
    showRail("prior", [0, largest / end], model.priorInterval?.map((x) => x / end), model.prior);
    showRail("purity", [model.leastPurity(mixture.prior), 1], model.purityInterval, model.purity);
    showRail("bias", [0, biasEnabled ? 1 : 0], undefined, 1);
    showRail("threshold", [0, 1], undefined, model.threshold);
    byId("prior-range").textContent = priorNote(model, mixture);
    byId("purity-range").textContent = purityNote(model, mixture);
    byId("bias-range").textContent = biasNote(model);
    byId("threshold-range").textContent = thresholdNote(model);
    const disabledSliders = {
      prior: model.fullyLabeled || model.audited,
      purity: model.hasPropensities,
      bias: !biasEnabled,
    };
    for (const [name, disabled] of Object.entries(disabledSliders)) {
      byId(name).disabled = disabled;
      byId(`${name}-number`).disabled = disabled;
    }
    byId("reset").disabled = !(state.moved(model) || chosen.bias !== 1);
  }

  function showMessage(name, text) {
    byId(`${name}-message`).textContent = text;
    const isRefusal = text.startsWith(SLIDERS[name].title);
    byId(`${name}-number`).setAttribute("aria-invalid", isRefusal);
    byId(`${name}-message`).classList.toggle("refusal", isRefusal);
  }

  function clearMessages() {
    for (const name of Object.keys(SLIDERS)) showMessage(name, "");
  }

  // Apply typed text, or say why not.
  function applyText(name, text) {
    const slider = SLIDERS[name];
    const typed = format.parse(text);
    const value = slider.read(typed);
    const shown = `${slider.title} stays at ${format.significant(slider.get(), slider.digits)}`;
    if (Number.isNaN(typed)) {
      showMessage(name, `${shown}: “${format.shorten(text.trim(), 20)}” is not a number.`);
      return;
    }
    const problem = slider.problem(value);
    if (problem) {
      showMessage(name, `${shown}: it ${problem}; got ${short(typed, 6)}.`);
      return;
    }
    clearMessages();
    slider.set(value);
    if (value !== typed) showMessage(name, `Read ${short(typed, 6)} as ${short(typed, 6)}%.`);
  }

  // Call `onChange` whenever a slider is moved or a number is entered.
  function listen(onChange) {
    for (const [name, slider] of Object.entries(SLIDERS)) {
      byId(name).addEventListener("input", (event) => {
        clearMessages();
        slider.set(slider.value(Number(event.target.value)));
        onChange();
      });
      const box = byId(`${name}-number`);
      const applyInput = () => {
        const shown = format.significant(slider.get(), slider.digits);
        // The text is rounded; leaving it unchanged must not change the value.
        if (box.value !== shown) applyText(name, box.value);
        box.value = format.significant(slider.get(), slider.digits);
        onChange();
      };
      box.addEventListener("change", applyInput);
      box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        applyInput();
      });
    }
    byId("reset").addEventListener("click", () => {
      state.reset();
      clearMessages();
      onChange();
      // The button is about to be disabled, so move the focus.
      byId("controls").querySelector("input[type=range]:not(:disabled)").focus();
    });
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  return { listen, priorRange, show };
})();
