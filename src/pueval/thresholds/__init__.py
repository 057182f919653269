"""Thresholds: chosen by what they must achieve, and measures at many of them.

A rule (`rules`) is followed on the rows and in every resample (`choosing`), because a threshold
looks better on the rows that it was chosen on; `curves` are measures by threshold.
"""
