"""Internal: confidence intervals, and what they are made of.

- `intervals`: an interval from a standard error or from draws; `holm`: adjusted p-values.
- `bootstrap_draws`: resampled counts between thresholds; `measure_intervals`: intervals of
  every measure from them; `bands`: confidence bands of curves.
- `influence` and `score_steps`: variances and covariances from the influence of each row; `delong`:
  the standard error of the AUC from them.
- `uncertain_prior`: what an uncertain prior or purity adds to an interval. `prior_region` has
  intervals of prior and purity, `prior_draws` a prior for each resample, and `prior_profile`
  differences of models that share a prior.
"""
