"""What pytest collects: modules that import PyTorch only where it is installed."""

from importlib.util import find_spec

has_torch = find_spec("torch") is not None and find_spec("torchmetrics") is not None
collect_ignore = [] if has_torch else ["src/pueval/torch", "tests/torch/tensors.py"]
