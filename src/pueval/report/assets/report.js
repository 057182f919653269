"use strict";

// The page at work: whatever is moved, everything follows.
(() => {
  const { chosen, current, models, settings } = state;
  const byId = (id) => document.getElementById(id);

  function update() {
    const model = current();
    const { mixture, bias, threshold } = settings(model);
    const now = state.evaluate(model, settings(model));
    const naive = state.naiveAt(model, threshold);
    sliders.show();
    tables.showHeadline(now, naive);
    tables.showContingency("naive-table", naive.rate);
    tables.showContingency(
      "corrected-table",
      now.rate,
      now.bounded ? correction.boundedRates(model.table, mixture, bias)(now.k) : undefined,
    );
    tables.showMeasures(now, naive);
    tables.showModels();
    tables.showStatus(model, now);
    pictures.showCurves(model, now, naive);
    pictures.showScores(model);
    showSensitivitySoon();
  }

  // The slowest picture waits until the sliders rest.
  const REST = 100;
  let timer;
  function showSensitivitySoon() {
    clearTimeout(timer);
    timer = setTimeout(() => pictures.showSensitivity(current()), REST);
  }

  // However often something is moved, everything is drawn once per frame.
  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      update();
    });
  }

  function choose(index) {
    chosen.model = index;
    if (byId("model")) byId("model").value = String(index);
    update();
  }

  function moveThreshold(index, threshold) {
    chosen.thresholds[index] = threshold;
    choose(index);
    byId("explore").scrollIntoView();
    byId("threshold").focus({ preventScroll: true });
  }

  // Pictures are drawn for the width they have.
  function followWidth() {
    let width = document.body.clientWidth;
    new ResizeObserver(() => {
      if (document.body.clientWidth === width) return;
      width = document.body.clientWidth;
      pictures.showEstimators();
      soon();
    }).observe(document.body);
  }

  // A sheet of paper is narrower than most screens, and nobody draws again for it unasked.
  function followPaper() {
    const draw = (onPaper) => () => {
      document.documentElement.classList.toggle("paper", onPaper);
      pictures.showEstimators();
      update();
      pictures.showSensitivity(current());
    };
    window.addEventListener("beforeprint", draw(true));
    window.addEventListener("afterprint", draw(false));
  }

  const aucOf = (model) => model.measures.roc_auc.value ?? 0;

  document.documentElement.classList.add("script");
  tables.prepareModels(choose);
  tables.prepareChosen(moveThreshold);
  pictures.showEstimators();
  choose(models.reduce((best, model) => (aucOf(model) > aucOf(best) ? model : best)).index);
  pictures.showSensitivity(current());
  sliders.listen(soon);
  byId("model")?.addEventListener("change", (event) => choose(Number(event.target.value)));
  byId("sensitivity-measure").addEventListener("change", soon);
  followWidth();
  followPaper();
})();
