"""Internal: what changes if prior, purity or random labeling are wrong.

`feasibility` says which priors a ranking allows, `bounds` has the bounds of Claesen et al. for an
interval of priors and a band of rank distributions (`rank_band` has the bands, `hidden_positives`
the unlabeled positives above a threshold, `measure_range` the measures), `labeling_bias` bounds
measures if labeling was not random (`positive_shares` says where positives can then be),
`tipping_point` finds how wrong an assumption must be, and `grid` tabulates a measure over
prior × purity.
"""
