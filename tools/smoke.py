# SPDX-License-Identifier: BSD-3-Clause
"""Try an installed tiebreak: what it ships, every public name, three models.

``python smoke.py VERSION`` runs anywhere and needs nothing but the installed package.
It prints one line for each part, and stops with a traceback at the first that fails.
"""

import importlib
import pkgutil
import sys
import tempfile
from importlib import metadata, resources
from pathlib import Path

import numpy as np

import tiebreak
from tiebreak.datasets import load_worldcup2022, make_norms


def check_place(version: str) -> None:
    """The package is the installed one, of this version, with its data files."""
    assert Path(tiebreak.__file__).is_relative_to(sys.prefix), tiebreak.__file__
    assert tiebreak.__version__ == metadata.version("tiebreak") == version
    package = resources.files("tiebreak")
    assert package.joinpath("py.typed").is_file()
    assert package.joinpath("datasets", "worldcup2022.csv").is_file()


def count_public_names() -> int:
    """Every name that a package lists can be imported; some list none."""
    packages = [tiebreak.__name__] + [
        module.name
        for module in pkgutil.iter_modules(tiebreak.__path__, prefix="tiebreak.")
        if module.ispkg
    ]
    names = [
        getattr(module, name)
        for module in map(importlib.import_module, packages)
        for name in getattr(module, "__all__", ())
    ]
    return len(names)


def try_models(folder: Path) -> list[str]:
    """Models of comparisons, of names and of grades learn, and survive a file."""
    simulated = make_norms(60, norm=2, random_state=1)
    cup = load_worldcup2022()
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = np.digitize(X @ [2.0, -1.0, 0.0], [-1.0, 1.0])
    qid = np.repeat(np.arange(6), 10)
    fitted = [
        (
            tiebreak.SVMCompare(C=10.0).fit(simulated.pairs, simulated.y),
            simulated.pairs,
        ),
        (tiebreak.BradleyTerry(alpha=0.1).fit(cup.pairs, cup.y), cup.pairs),
        (tiebreak.RankSVM(kernel="linear").fit(X, y, qid=qid), X),
    ]
    for model, given in fitted:
        file = tiebreak.save(model, folder / f"{type(model).__name__}.tiebreak")
        before, after = model.predict(given), tiebreak.load(file).predict(given)
        assert len(np.unique(before)) > 1
        assert np.array_equal(before, after)
    assert fitted[0][0].score(simulated.pairs, simulated.y) > 0.8
    assert fitted[2][0].score(X, y, qid=qid) > 0.9
    return [type(model).__name__ for model, _ in fitted]


def main() -> None:
    """Run all parts."""
    check_place(sys.argv[1])
    print(f"tiebreak {tiebreak.__version__} in {Path(tiebreak.__file__).parent}")
    print(f"{count_public_names()} public names")
    with tempfile.TemporaryDirectory() as folder:
        print(f"fit, predict, save, load: {', '.join(try_models(Path(folder)))}")


if __name__ == "__main__":
    main()
