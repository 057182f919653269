"""pueval.torch is imported only where it is used, and says how to install what it needs."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

REQUIRED = ("torch", "torchmetrics", "pytorch_lightning", "jax")


def in_a_new_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_pueval_does_not_import_torch():
    code = (
        "import sys, pueval; pueval.evaluate, pueval.compare, pueval.scoring, dir(pueval);"
        "print(sorted({'torch', 'torchmetrics', 'pueval.torch'} & set(sys.modules)))"
    )
    assert in_a_new_interpreter(code).stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["torch", "torchmetrics"])
def test_a_missing_package_names_the_extra(package):
    if package == "torchmetrics" and find_spec("torch") is None:
        pytest.skip("needs PyTorch: make torch")
    code = f"import sys; sys.modules['{package}'] = None; import pueval; pueval.torch"
    error = in_a_new_interpreter(code).stderr
    assert f'pueval.torch requires the package "{package}"' in error
    assert 'pip install "pueval[torch]"' in error


@pytest.mark.skipif(
    os.environ.get("PUEVAL_ALL_ENGINES") != "1", reason="only where every package is installed"
)
def test_ci_skips_nothing():
    assert [name for name in REQUIRED if find_spec(name) is None] == []


def test_torch_is_an_attribute():
    pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")
    code = "import pueval; print(pueval.torch.PUAUROC(prior=0.2))"
    assert in_a_new_interpreter(code).stdout.strip() == "PUAUROC(prior=0.2)"
