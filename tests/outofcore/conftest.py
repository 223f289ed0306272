# SPDX-License-Identifier: BSD-3-Clause
"""A real cluster of two worker processes, started once for a session."""

import logging

import pytest


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed", reason="needs the dask extra")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit="2GiB",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        # Compiled loops are loaded here, so that the first test is not the slow one.
        client.run(_warm)
        yield client


def _warm() -> None:
    import numpy as np

    from tiebreak import RankSVM

    X, y = np.arange(6.0)[:, None], np.arange(6) % 3
    RankSVM(kernel="linear", loss="squared_hinge").fit(X, y)
