# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak ask``: collect comparisons on a local page."""

import getpass
import signal
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from tiebreak.cli.command import path, place
from tiebreak.cli.console import Output, Steps
from tiebreak.cli.errors import guarded
from tiebreak.cli.signals import interruptible

_LOCAL = ("127.0.0.1", "::1", "localhost")


@guarded
def ask(
    source: Annotated[
        Path,
        place(
            metavar="ITEMS",
            help="A folder of images, sounds, videos or texts; a table with columns "
            "such as name, file, text, url, prompt; or a .txt file, an item per line.",
        ),
    ],
    goal: Annotated[
        str, Option(help="What is to become certain: ranking, top:K, best or scale.")
    ] = "ranking",
    level: Annotated[float, Option(help="How certain that must be.")] = 0.95,
    strategy: Annotated[
        str, Option(help="How pairs are chosen: information, swiss or random.")
    ] = "information",
    min_each: Annotated[
        int, Option(metavar="NUMBER", help="Questions about every item, at least.")
    ] = 1,
    repeat: Annotated[
        float, Option(help="Share of pairs to ask again, to see who is consistent.")
    ] = 0.05,
    raters: Annotated[
        str,
        Option(
            metavar="NAMES",
            help="People, separated by commas, each with a link; any: everybody with "
            "the link enters a name.",
        ),
    ] = "",
    question: Annotated[
        str, Option(metavar="TEXT", help="What the page asks.")
    ] = "Which is better?",
    allow_both_bad: Annotated[
        bool, Option("--allow-both-bad", help="Offer the answer that both are bad.")
    ] = False,
    items: Annotated[
        Path | None,
        path(metavar="FILE", help="A table with features of the items, by name."),
    ] = None,
    answers: Annotated[
        Path | None,
        path(metavar="FILE", help="File of answers. [default: beside ITEMS]"),
    ] = None,
    export: Annotated[
        Path | None,
        path(metavar="OUT", help="Write the answers to a .csv, .tsv or .parquet file."),
    ] = None,
    accept_changes: Annotated[
        bool,
        Option(
            "--accept-changes", help="Keep answers about items that have changed since."
        ),
    ] = False,
    new_links: Annotated[
        bool,
        Option("--new-links", help="Replace all links; the old ones stop working."),
    ] = False,
    host: Annotated[
        str, Option(help="Address to listen at; 0.0.0.0 opens it to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(help="Port; 0 takes a free one.")] = 8642,
) -> None:
    """Ask people which of two ITEMS is better, on a local page, until it is settled."""
    from tiebreak.ask.choose import Goal, Settings
    from tiebreak.ask.engine import Engine
    from tiebreak.ask.items import read_features, read_items
    from tiebreak.ask.store import Store
    from tiebreak.data.atomic import refuse_to_replace
    from tiebreak.io.answers import read_answers
    from tiebreak.io.result import plural
    from tiebreak.io.table import check_ending, write_table

    try:
        settings = Settings(goal, level, strategy, min_each, repeat)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    output = Output()
    file = source.resolve().with_suffix("") if source.is_file() else source.resolve()
    database = answers or file.with_name(f"{file.name}.answers.sqlite")
    if export is not None:
        refuse_to_replace([source, database, items], [export])
        check_ending(export)
        frame = read_answers(database)
        write_table(export, frame)
        output.show([f"{plural(frame.height, 'answer')} written to {export}."])
        return
    try:
        from tiebreak.ask.server import Site, allowed_hosts, open_socket, serve
    except ImportError as error:
        package = (error.name or "a package").partition(".")[0]
        raise typer.BadParameter(
            f"the page needs {package}, which is not installed. Run: pip install "
            '"tiebreak[ask]"'
        ) from None
    with Steps(shown=True) as steps:
        steps(f"reading {source.name}")
        listed = read_items(source)
        names = [item.name for item in listed.items]
        Goal.read(settings.goal, len(names))
        table = None if items is None else read_features(items, names)
    with open_socket(host, port) as listening, closing(Store(database)) as store:
        port = listening.getsockname()[1]
        moved = store.was_moved()
        if new_links:
            store.renew_links()
        hashes = {item.name: item.hash for item in listed.items}
        changes = store.enter(hashes, accept_changes=accept_changes)
        people = [name.strip() for name in raters.split(",") if name.strip()]
        may_join = people == ["any"]
        for name in [] if may_join else people or [_user()]:
            store.rater(name)
        with Steps(shown=True) as steps:
            steps("learning from the answers")
            study = Engine(listed.prompts, store, settings, table)
            study.rest = 20.0  # a look at many items delays those who answer
        site = Site(study, listed, question, allow_both_bad, may_join, port)
        base = f"http://{_shown_host(host)}:{port}"
        sentences = [
            *listed.sentences,
            *changes,
            f"{plural(len(names), 'item')} · {plural(store.n_answers, 'answer')} "
            f"so far in {database}",
        ]
        if moved and not new_links:
            sentences.append(
                f"warning: {database.name} is new at this place. If somebody else "
                "prepared it, they know its links: add --new-links to replace them."
            )
        if host not in _LOCAL:
            sentences.append(
                f"warning: --host {host} opens this page to every machine that can "
                "reach this one, without encryption. Who has a link below, or reads "
                "along in the network, sees the items and can answer."
            )
        output.show(sentences)
        links = [f"  {base}/?key={site.join}"] if may_join else [
            f"  {base}/?key={rater.token}" + (f"   {rater.name}" if people else "")
            for rater in store.raters()
            if not people or rater.name in people
        ]  # fmt: skip
        links += ["Organizer:", f"  {base}/organizer?key={site.organizer}", ""]
        links += ["Ctrl-C ends; the same command goes on later."]
        output.print("\n".join(["\nOpen in a browser:", *links]), soft_wrap=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt), interruptible():
            serve(site.app(allowed_hosts(host, port)), listening)
        done = store.n_answers
        study.close()
    output.show(
        [f"{plural(done, 'answer')} in {database}. Now: tiebreak rank {database.name}"]
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "me"


def _shown_host(host: str) -> str:
    """The address to put into links."""
    if host == "0.0.0.0":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                # No packet is sent; it only asks which address would be used.
                probe.connect(("192.0.2.1", 9))
                return str(probe.getsockname()[0])
            except OSError:
                return socket.gethostname()
    return f"[{host}]" if ":" in host else host
