"use strict";

// Update the page when a slider, the model or the window changes.
(() => {
  const { chosen, current, models, settings } = state;
  const byId = (id) => document.getElementById(id);

  function update() {
    const model = current();
    const { threshold } = settings(model);
    const corrected = state.evaluate(model, settings(model));
    const naive = state.naiveAt(model, threshold);
    const isMoved = state.moved(model) || chosen.bias > 1;
    document.documentElement.classList.toggle("moved", isMoved);
    sliders.show();
    tables.showHeadline(model, corrected, naive);
    tables.showContingency("naive-table", naive.rate);
    tables.showContingency("corrected-table", corrected.rate, corrected.bounded);
    tables.showMeasures(model, corrected, naive);
    tables.showModels();
    tables.showStatus(model, corrected);
    pictures.showCurves(model, corrected, naive);
    scorePicture.show(model);
    auditPicture.show(model);
    showSensitivitySoon();
  }

  // The slowest plot waits until the sliders have been still for this many milliseconds.
  const DELAY = 100;
  let timer;
  function showSensitivitySoon() {
    clearTimeout(timer);
    timer = setTimeout(() => sensitivityPicture.show(current()), DELAY);
  }

  // Redraw at most once per frame.
  let scheduled = false;
  function scheduleUpdate() {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      update();
    });
  }

  function selectModel(index) {
    chosen.model = index;
    if (byId("model")) byId("model").value = String(index);
    update();
  }

  function moveThreshold(index, threshold) {
    chosen.thresholds[index] = threshold;
    selectModel(index);
    byId("explore").scrollIntoView();
    byId("threshold").focus({ preventScroll: true });
  }

  // Plots have a fixed width, so redraw them when the window is resized.
  function followWidth() {
    let width = document.body.clientWidth;
    new ResizeObserver(() => {
      if (document.body.clientWidth === width) return;
      width = document.body.clientWidth;
      pictures.showEstimates();
      scheduleUpdate();
    }).observe(document.body);
  }

  // Paper is narrower than most screens, so redraw the plots before printing.
  function followPaper() {
    const redraw = (onPaper) => () => {
      document.documentElement.classList.toggle("paper", onPaper);
      pictures.showEstimates();
      update();
      sensitivityPicture.show(current());
    };
    window.addEventListener("beforeprint", redraw(true));
    window.addEventListener("afterprint", redraw(false));
  }

  const correctedAuc = (model) => model.measures.roc_auc.value ?? 0;

  document.documentElement.classList.add("script");
  tables.prepareModels(selectModel);
  tables.prepareChosen(moveThreshold);
  copying.listen();
  pictures.showEstimates();
  selectModel(models.reduce((best, model) => (correctedAuc(model) > correctedAuc(best) ? model : best)).index);
  sensitivityPicture.show(current());
  sliders.listen(scheduleUpdate);
  byId("model")?.addEventListener("change", (event) => selectModel(Number(event.target.value)));
  byId("sensitivity-measure").addEventListener("change", scheduleUpdate);
  followWidth();
  followPaper();
})();
