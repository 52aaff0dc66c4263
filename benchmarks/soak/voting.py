"""Raters who vote while the survey's server is killed again and again."""

from __future__ import annotations

import http.client
import random
import re
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.faults.killed import Tally
from tests.faults.starting import Started, Starter
from tests.survey.studies import study

from askew.errors import RunError
from askew.survey.records import Survey, write_record
from askew.survey.store import read_database

_ABOUT = {"generative_ai": "yes", "postgraduate": "yes", "clinician": "no"}
_LINK = re.compile(r"http://\S+/s/\S+")


class Rater(threading.Thread):
    """Agrees, then answers and changes answers without end; remembers what was said to be saved."""

    def __init__(self, link: str, cases: int, seed: int) -> None:
        super().__init__(daemon=True)
        self._link, self._cases = urlsplit(link), cases
        self._rng = random.Random(seed)
        self.saved: dict[int, str] = {}  # by the number of the case: the comment last confirmed
        self.sent: dict[int, set[str]] = {}
        self.stop = threading.Event()

    def run(self) -> None:
        """Until it is stopped; a server that is away is waited for."""
        number = 0
        while not self.stop.is_set():
            try:
                self._send("GET", "", {})
                self._post("consent", {"agree": "yes"})
                self._post("about", _ABOUT)
                number += 1
                self._vote(number)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)

    def _vote(self, number: int) -> None:
        case = min(1 + len(self.saved), self._rng.randrange(1, self._cases + 1))
        comment = f"{number}"
        self.sent.setdefault(case, set()).add(comment)
        form = {"choice": "left", "noticed": "none", "comment": comment}
        # What is not saved is led back to where it belongs; what is, to the next case or the end.
        if self._post(f"case/{case}", form).endswith((f"/case/{case + 1}", "/end")):
            self.saved[case] = comment

    def _post(self, page: str, form: dict[str, str]) -> str:
        return self._send("POST", f"/{page}", form)

    def _send(self, method: str, page: str, form: dict[str, str]) -> str:
        """Where the answer leads to."""
        origin = f"{self._link.scheme}://{self._link.netloc}"
        connection = http.client.HTTPConnection(self._link.hostname or "", self._link.port, 10)
        try:
            connection.request(
                method,
                f"{self._link.path}{page}",
                urlencode(form),
                {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded"},
            )
            return connection.getresponse().headers.get("Location", "")
        finally:
            connection.close()


def votes_through_kills(
    folder: Path, rng: random.Random, starter: Starter, *, kills: int, raters: int = 3
) -> Tally:
    """Kill the server at random moments among votes; is all there that it said to be saved?"""
    tally = Tally("kill -9 of the survey's server")
    survey = study(4, raters=raters).survey
    file, answers = folder / "study.json", folder / "answers.sqlite"
    write_record(file, survey)
    server, links = _served(starter, folder, file, answers)
    people = [Rater(link, len(survey.sheets[0].order), place) for place, link in enumerate(links)]
    for one in people:
        one.start()
    for _ in range(kills):
        time.sleep(rng.uniform(0.05, 0.6))
        if server.kill() == -9:
            tally.injected += 1
        server, _ = _served(starter, folder, file, answers)
    for one in people:
        one.stop.set()
    for one in people:
        one.join(30)
    server.kill()
    _compare(answers, survey, people, tally)
    return tally


def _served(starter: Starter, folder: Path, file: Path, answers: Path) -> tuple[Started, list[str]]:
    server = starter.start("survey", "serve", str(file), "--db", str(answers), folder=folder)
    for _ in range(6000):
        if "Ctrl-C" in server.said or server.poll() is not None:
            break
        time.sleep(0.01)
    return server, _LINK.findall(server.said)


def _compare(answers: Path, survey: Survey, people: list[Rater], tally: Tally) -> None:
    try:
        collected = read_database(answers, survey)
    except RunError as trouble:
        tally.broken(str(trouble))
        return
    kept = {(one.rater, one.scenario): one.comment for one in collected.ratings}
    votes = 0
    for place, one in enumerate(people):
        order = survey.sheets[place % len(survey.sheets)].order
        for case, comment in one.saved.items():
            votes += 1
            found = kept.get((str(place + 1), order[case - 1]))
            # One that was sent after it, and whose confirmation the kill swallowed, may be there.
            with suppress(ValueError):
                if found is not None and found in one.sent[case] and int(found) >= int(comment):
                    continue
            tally.lost += 1
            tally.notes.append(f"rater {place + 1}, case {case}: {comment!r} saved, {found!r} kept")
    if not votes:
        tally.broken("nobody could vote: nothing was shown")
