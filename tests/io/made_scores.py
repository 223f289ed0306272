# SPDX-License-Identifier: BSD-3-Clause
"""Score tables, items on tasks, as people have them; see `made_shapes`."""

from tests.io.made_shapes import JUDGED, NAMES, File, rankings, table


def scored(n=24, seeds=1):
    """Give task, item, seed and score, higher for better."""
    return [
        [
            f"t{t}",
            name,
            seed,
            round(0.9 - 0.02 * (7 * t % 5) - 0.08 * order.index(name) + 0.01 * seed, 4),
        ]
        for t, order in enumerate(rankings(n))
        for name in NAMES
        for seed in range(seeds)
    ]


def by_task(rows, change=lambda value: value):
    """Give a row for each task, with the scores of all names."""
    score = {(row[0], row[1]): change(row[3]) for row in rows}
    tasks = dict.fromkeys(row[0] for row in rows)
    return [[task, *(score[task, name] for name in NAMES)] for task in tasks]


def by_item(rows):
    """Give a row for each name, and names of tasks."""
    turned = [*zip(*rows, strict=True)]
    rows = [[n, *row] for n, row in zip(NAMES, turned[1:], strict=True)]
    return list(turned[0]), rows


SCORED, SEEDED = scored(), scored(seeds=3)
TASKS = ["dataset", *NAMES]
BY_TASK = by_task(SCORED)
ERRORS = by_task(SCORED, lambda value: round(2 - value, 4))
PERCENT = by_task(SCORED, lambda value: f"{100 * value:.1f}%")
HEADS, BY_ITEM = by_item(BY_TASK)
HOLES = [[*r[: i % 6 + 1], "", *r[i % 6 + 2 :]] for i, r in enumerate(BY_TASK)]
DASHES = [[*r[: i % 6 + 1], "n/a", *r[i % 6 + 2 :]] for i, r in enumerate(BY_TASK)]
MIXED = [[r[0], r[1], r[3], round(2 - r[3], 3)] for r in SCORED]
STACKED = [[t, n, m, v] for t, n, a, b in MIXED for m, v in (("acc", a), ("rmse", b))]
SUITES = [[f"suite{int(r[0][1:]) // 3}", *r] for r in BY_TASK]

FILES = [
    File("tasks_by_models", table(TASKS, BY_TASK)),
    File("models_by_tasks", table(["model", *HEADS], BY_ITEM)),
    File("task_model_score", table(["task", "model", "seed", "score"], SCORED)),
    File("seeds", table(["benchmark", "system", "seed", "accuracy"], SEEDED)),
    File(
        "seeds_by_tasks",
        table(
            ["dataset", "fold", *NAMES],
            [[r[0], k, *r[1:]] for k in range(2) for r in BY_TASK],
        ),
    ),
    File("tasks_with_holes", table(TASKS, HOLES)),
    File("tasks_with_words_for_holes", table(TASKS, DASHES)),
    File("tasks_in_percent", table(TASKS, PERCENT)),
    File("tasks_within", table(TASKS, BY_TASK), options={"tie_within": "2%"}),
    File("tasks_with_semicolons", table(TASKS, BY_TASK, ";").replace(".", ",")),
    File("tasks_with_mark", "\ufeff" + table(TASKS, BY_TASK).replace("t3", "\n\nt3")),
    File("tasks_quoted", table(map('"{}"'.format, TASKS), BY_TASK)),
    File("tasks_and_notes", table([*TASKS, "comment"], [[*r, "x"] for r in BY_TASK])),
    File("tasks_and_average", table(TASKS, [*BY_TASK, ["Average", *range(6)]])),
    File(
        "models_and_average",
        table(
            ["model", "params", *HEADS, "average"],
            [[r[0], k, *r[1:], k] for k, r in enumerate(BY_ITEM)],
        ),
    ),
    File("tasks_of_errors", table(TASKS, ERRORS), options={"lower_is_better": True}),
    File(
        "models_by_losses",
        table(["model", *(f"{h}_loss" for h in HEADS)], by_item(ERRORS)[1]),
    ),
    File(
        "long_errors",
        table(["task", "model", "rmse"], [[r[0], r[1], 2 - r[3]] for r in SCORED]),
    ),
    File("two_metrics", table(["task", "model", "accuracy", "latency_ms"], MIXED)),
    File("metric_column", table(["dataset", "model", "metric", "value"], STACKED)),
    File("suites", table(["suite", *TASKS], SUITES), options={"unit": "suite"}),
    File(
        "tasks_model_a",
        table(["dataset", "model_a", "model_b", "model_c"], [r[:4] for r in BY_TASK]),
        names=["model_a", "model_b", "model_c"],
    ),
    File("tasks_twice", table(TASKS, BY_TASK + BY_TASK[:3])),
    File(
        "tasks_with_a_word",
        table(TASKS, [*BY_TASK, ["t99", "good", *range(5)]]),
        "neither numbers nor missing: line 26 ('good')",
    ),
    File("two_tasks", table(TASKS, BY_TASK[:2]), "at least 3 tasks"),
    File("tasks_of_ranks", table(TASKS, [["t", *r[1:]] for r in JUDGED])),
    File(
        "tasks_said",
        table(["which", *NAMES], BY_TASK),
        options={"task": "which", "kind": "scores"},
    ),
    File(
        "models_said",
        table(["which", *HEADS], BY_ITEM),
        options={"item": "which", "kind": "scores"},
    ),
    File(
        "models_of_anything",
        table(["which", *HEADS], BY_ITEM),
        "3 ways",
        wrong=("--person which", "--item which --grade t23"),
    ),
]
