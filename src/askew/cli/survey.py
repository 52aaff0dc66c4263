"""`askew survey`: a blinded human study, from a run folder to Table 4."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from secrets import randbits
from typing import Annotated

import typer

from askew.cli.terminal import echo, shown
from askew.errors import ConfigError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

File = Annotated[Path, typer.Argument(metavar="FILE", help="What `askew survey export` wrote.")]


class Layout(StrEnum):
    """How answers are shown."""

    AUTO = "auto"
    TEXT = "text"
    FIELDS = "fields"


@app.command()
def export(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A clinical run folder, or a CSV or JSONL file of answers (scenario, question, "
            "a, b, ground_truth, true_attributes).",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="What raters are shown.")],
    key: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Which pair is which; default: FILE with .key.json."),
    ] = None,
    compare: Annotated[
        str, typer.Option(help="The arm held to reveal more bias, and the other.")
    ] = "multi_hop,direct",
    scenarios: Annotated[
        int | None, typer.Option(min=1, help="Default: 5 of a run, all of a file.")
    ] = None,
    raters: Annotated[int, typer.Option(min=1, help="Sheets, balanced over so many.")] = 15,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of all draws. Default: drawn, and kept in the key; who knows it knows the arms.",
        ),
    ] = None,
    answers: Annotated[
        Layout, typer.Option(help="As text, or laid out by field so that arms look alike.")
    ] = Layout.AUTO,
    allow_no_difference: Annotated[
        bool, typer.Option("--allow-no-difference", help="Raters may choose neither pair.")
    ] = False,
    require: Annotated[
        str,
        typer.Option(
            help="Who is let in: those who say yes to these (generative_ai, postgraduate, "
            "clinician), or none."
        ),
    ] = "generative_ai,postgraduate",
    ask: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A further question about the rater; may be repeated."),
    ] = None,
    consent: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own consent text, UTF-8.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over files that are there.")
    ] = False,
) -> None:
    """Draw scenarios and write blinded, order-balanced pairs, and the key to them."""
    from askew.survey import wording
    from askew.survey.export import SurveyConfig, make_survey
    from askew.survey.from_file import candidates_of_file, is_pairs_file
    from askew.survey.records import write_record

    # A seed that anybody can guess gives away the sides on which the arms stand.
    seed = randbits(53) if seed is None else seed
    key = key or out.with_suffix(".key.json")
    _check_outputs(out, key, force)
    arms = _arms(compare)
    from_file = is_pairs_file(source)
    if from_file:
        found = candidates_of_file(source, arms)
    else:
        from askew.runfolder import RunFolder
        from askew.survey.from_run import candidates_of_run

        found = candidates_of_run(RunFolder.open(source), arms, seed, answers.value)
    config = SurveyConfig(
        scenarios=scenarios or (None if from_file else 5),
        raters=raters,
        allow_no_difference=allow_no_difference,
        required=_names(require),
        asked=tuple(ask or ()),
        consent=wording.CONSENT if consent is None else _text_of(consent),
    )
    exported = make_survey(found, arms, seed, config)
    write_record(out, exported.survey)
    write_record(key, exported.key)
    count = len(exported.survey.scenarios)
    echo(f"Wrote {count} scenarios and {raters} sheets to {shown(out)}.")
    echo(f"The key is in {shown(key)}: keep it from raters and from whoever talks to them.")
    for note in exported.notes:
        echo(f"Note: {note}")


def _check_outputs(out: Path, key: Path, force: bool) -> None:
    if out.absolute() == key.absolute():
        raise ConfigError(f"{out} cannot hold both the survey and its key. Name two files.")
    for path in (out, key):
        if path.exists() and not force:
            raise ConfigError(
                f"{path} is there already, and without it answers given so far could not be read. "
                "Name another file, or add --force."
            )


def _arms(compare: str) -> tuple[str, str]:
    names = _names(compare)
    if len(names) != 2:
        raise ConfigError(
            f"--compare is {compare!r}, expected two names with a comma: multi_hop,direct."
        )
    return names[0], names[1]


def _names(text: str) -> tuple[str, ...]:
    """Names with commas between them; none for "none"."""
    if text.strip().casefold() == "none":
        return ()
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as trouble:
        raise ConfigError(f"{path}: {trouble}. Save the text as UTF-8.") from trouble


@app.command()
def serve(
    file: File,
    db: Annotated[Path, typer.Option(metavar="FILE", help="Where answers are kept, SQLite.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="0: that of the last time, or a free one at the first."
        ),
    ] = 0,
    raters: Annotated[
        int | None, typer.Option(min=1, help="Links in all. Default: one for each sheet.")
    ] = None,
    replace: Annotated[
        list[int] | None,
        typer.Option(metavar="RATER", help="A new link for one who lost it; may be repeated."),
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Needed to be reached from other machines.")
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where raters reach it, if not at --host and --port."),
    ] = None,
) -> None:
    """Serve the survey's page to its raters until Ctrl-C; prints one secret link a rater."""
    import asyncio

    from askew.survey.records import read_survey
    from askew.survey.serving import Serving, check_host, serve_until_stopped
    from askew.survey.store import Store

    survey = read_survey(file)
    serving = Serving(host=host, port=port, allow_remote=allow_remote, public_url=public_url)
    warning = check_host(serving)
    store = Store(db, survey)
    try:
        links = store.new_links(raters or len(survey.sheets))
        links += [store.replace_link(number) for number in replace or ()]
        if warning:
            echo(f"Warning: {warning}", stderr=True)

        def ready(address: str) -> None:
            for link in links:
                echo(f"rater {link.rater}: {address}/s/{link.token}")
            if links:
                echo("Give each link to one person. They are shown this once, and kept as hashes.")
            if len(links) < store.raters:
                echo(f"{store.raters - len(links)} links made before go on working.")
            echo(f"Serving {shown(file)} at {address}; answers go to {shown(db)}. Ctrl-C stops it.")

        asyncio.run(serve_until_stopped(survey, store, serving, ready))
    finally:
        store.close()
    echo("Stopped. Every answer given is kept; start it again to go on.")


@app.command()
def analyse(
    file: File,
    key: Annotated[Path, typer.Option(metavar="KEY", help="The survey's key.")],
    db: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `askew survey serve` wrote.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Answers as a table: rater, scenario, choice, noticed."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Write the answers out as a table too.")
    ] = None,
    complete_only: Annotated[
        bool, typer.Option("--complete-only", help="Leave raters out who did not finish.")
    ] = False,
    test: Annotated[str, typer.Option(help="Of each scenario: exact.")] = "exact",
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Table 4 with exact tests and Holm, the pooled answer, agreement, false detection, order."""
    from askew.runfolder import json_text
    from askew.survey.analysis import analyse as analysis_of
    from askew.survey.analysis import check_test
    from askew.survey.collected import read_csv, write_csv
    from askew.survey.records import read_key, read_survey
    from askew.survey.store import read_database
    from askew.survey.table import as_text, lines, table_4

    check_test(test)
    survey = read_survey(file)
    known = read_key(key, survey)
    if (db is None) == (answers is None):
        raise ConfigError("name the answers: either --db or --answers, and not both.")
    collected = read_database(db, survey) if db else read_csv(answers or Path(), survey)
    if csv is not None:
        write_csv(csv, collected)
    found = analysis_of(survey, known, collected, complete_only=complete_only)
    if json:
        typer.echo(json_text(found), nl=False)
        return
    head, rows = table_4(found)
    for line in (*as_text([head, *rows]), *lines(found)):
        echo(line)
