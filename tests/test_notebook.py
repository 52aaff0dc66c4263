"""The example notebook runs, and a kernel's interrupt stops an audit cleanly."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askew.models.ledgerfile import State, is_ledger, read_records

pytest.importorskip("nbclient", reason="askew[notebook] is not installed")
pytest.importorskip("ipykernel", reason="askew[notebook] is not installed")

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOK = EXAMPLES / "notebook.ipynb"


@pytest.fixture(scope="module")
def builtin_model() -> Path:
    """The folder of builtin/smollm2 in the user's cache, installed and converted at first need."""
    from askew.errors import MissingDependency
    from askew.models import builtin

    try:
        return builtin.install("builtin/smollm2")
    except (builtin.InstallError, MissingDependency) as error:
        pytest.skip(f"builtin/smollm2 cannot be installed here: {error}")


def read() -> Any:
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_the_notebook_is_kept_without_what_it_printed():
    cells = [cell for cell in read().cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


def said(cell: Any) -> str:
    """What a cell has printed and shown, as text and as HTML."""
    parts = [output.get("text", "") for output in cell.outputs]
    parts += [text for output in cell.outputs for text in output.get("data", {}).values()]
    return "\n".join(parts)


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_says(builtin_model, tmp_path):
    from nbclient import NotebookClient

    folder = shutil.copytree(EXAMPLES, tmp_path / "examples")
    notebook = read()
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    shown = {cell.source: said(cell) for cell in notebook.cells if cell.cell_type == "code"}

    def of(part: str) -> str:
        (found,) = (text for source, text in shown.items() if part in source)
        return found

    assert "154 items" in of("load_items")
    assert "(neutral)" in of("load_items")
    assert "[system] Speak like a terrible" in of("render")
    assert "pairs=18" in of("askew.plan")
    assert "NOT fit to be measured" in of('askew.flex("builtin/smollm2"')
    assert "IncompleteRun" not in "".join(shown.values())
    assert "Estimate(value=" in of("run.estimate")
    assert "attack_success_rate" in of("run.table()")
    planted = of("planted = ")
    assert "was fit to be measured (100 % of 70 controls right" in planted
    turned = of("turned(limit=1)")
    assert "plain: neutral" in turned
    assert "attacked: stereotyped" in turned
    assert "persona_injection" in of(".unstack()")
    assert "asked again: 0" in of("asked again")
    assert (folder / "rows.csv").is_file()


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """A kernel of this Python, as a notebook has one, and its client."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


AUDIT = 'askew.flex(answer, revision="1", items=8, controls=0, prompt="flex", out="run")'
FUNCTION = """
import time
import askew

def answer(prompt):
    time.sleep(0.2)
    return "(A)"

"""


def states(ledger: Path) -> list[State]:
    return [one.state for one in read_records(ledger)] if is_ledger(ledger) else []


def test_interrupting_a_cell_stops_the_audit_cleanly_and_the_cell_goes_on_with_it(kernel, tmp_path):
    manager, client = kernel
    ledger = tmp_path / "run" / "run.sqlite"
    cell = client.execute(FUNCTION + AUDIT)
    deadline = time.monotonic() + 60
    while states(ledger).count(State.RECEIVED) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    manager.interrupt_kernel()
    while (message := client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != cell:
        pass  # what the kernel says of itself
    reply = message["content"]
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert "the same call goes on from there" in reply["evalue"]
    before = states(ledger)
    assert set(before) == {State.RECEIVED, State.PLANNED}

    printed: list[str] = []
    outcome = client.execute_interactive(
        f"run = {AUDIT}\nprint(run.figures['calls']['reused'], run.missing)",
        output_hook=lambda message: printed.append(message["content"].get("text", "")),
        timeout=120,
    )
    assert outcome["content"]["status"] == "ok"
    assert f"{before.count(State.RECEIVED)} 0" in "".join(printed)
