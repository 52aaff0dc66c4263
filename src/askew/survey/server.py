"""The survey's web application: one rater a link, one case a page, every answer kept at once.

What guards it: a random token in the path, compared in constant time, and one answer (403) for
whatever holds none; forms are taken from the study's own pages alone (`Origin`, `Sec-Fetch-Site`),
requests for other hosts are refused (a name that was pointed at this machine from outside), bodies
are small, and the pages' policy lets nothing be loaded. There is no cookie and no access log.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from aiohttp import web

from askew.errors import RunError
from askew.survey import pages
from askew.survey.collected import Rating, Status
from askew.survey.pages import Given, Progress
from askew.survey.records import NO_DIFFERENCE, NONE, Choice, InclusionQuestion, Survey
from askew.survey.store import State, Store

MOST_BYTES = 64 * 1024  # of a request's body
_FORM = "application/x-www-form-urlencoded"
_LOG = logging.getLogger(__name__)
_SIDES = ("left", "right")

Form = Mapping[str, list[str]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Reached:
    """Under which names the study may be reached."""

    hosts: Collection[str]  # of the Host header
    origins: Collection[str]  # of the Origin header


class Pages:
    """Answers the requests of one study.

    Args:
        survey: what is shown.
        store: where answers go.
        reached: set before the first request, when the port is known.
    """

    def __init__(self, survey: Survey, store: Store) -> None:
        self.survey = survey
        self.store = store
        self.reached = Reached((), ())

    def application(self) -> web.Application:
        """The application to serve."""
        application = web.Application(middlewares=[self._guard], client_max_size=MOST_BYTES)
        application.router.add_get("/favicon.ico", _no_icon)
        application.router.add_route("*", "/s/{token}", self._by_link)
        application.router.add_route("*", "/s/{token}/{page:.*}", self._by_link)
        return application

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what is not for this study, and put the headers on whatever is answered."""
        try:
            self._check_origin(request)
            response = await handler(request)
        except web.HTTPException as answer:
            response = self._refusal(answer)
        except RunError as trouble:
            _LOG.error("an answer was not saved: %s", trouble)
            said = "Your answer could not be saved. Go back, and try again in a while."
            page = pages.message_page(self.survey.title, "Not saved", said)
            response = _page(page, status=503)
        response.headers.update(
            {
                "Content-Security-Policy": pages.content_security_policy(),
                # Not "no-referrer": the browser would then hide where a form comes from as well.
                "Referrer-Policy": "same-origin",
                "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
                "Cache-Control": "no-store",
                "Server": "askew",
            }
        )
        return response

    def _check_origin(self, request: web.Request) -> None:
        if request.host not in self.reached.hosts:
            raise web.HTTPMisdirectedRequest
        if request.method in ("GET", "HEAD"):
            return
        origin = request.headers.get("Origin")
        site = request.headers.get("Sec-Fetch-Site")
        # Every browser of today says at least one of the two with a form.
        if origin is None and site is None:
            raise web.HTTPForbidden
        if origin is not None and origin not in self.reached.origins:
            raise web.HTTPForbidden
        if site not in (None, "same-origin"):
            raise web.HTTPForbidden

    def _refusal(self, answer: web.HTTPException) -> web.Response:
        heading, said = _REFUSALS.get(answer.status, _OTHER_REFUSAL)
        allow = {"Allow": answer.headers["Allow"]} if "Allow" in answer.headers else None
        page = pages.message_page(self.survey.title, heading, said)
        return _page(page, status=answer.status, headers=allow)

    async def _by_link(self, request: web.Request) -> web.StreamResponse:
        token = request.match_info["token"]
        rater = self.store.rater_of(token)
        if rater is None:
            raise web.HTTPForbidden
        visit = Visit(self.survey, self.store, rater, f"/s/{token}")
        page = request.match_info.get("page", "")
        if request.method in ("GET", "HEAD"):
            return visit.show(page)
        if request.method != "POST":
            raise web.HTTPMethodNotAllowed(request.method, ["GET", "HEAD", "POST"])
        return visit.take(page, await _form(request))


class Visit:
    """One request of one rater.

    Args:
        survey: what is shown.
        store: where answers go.
        rater: whose link it is.
        base: the link's path, "/s/…".
    """

    def __init__(self, survey: Survey, store: Store, rater: int, base: str) -> None:
        self.survey, self.store, self.rater, self.base = survey, store, rater, base
        self.sheet = store.sheet(rater)

    def show(self, page: str) -> web.Response:
        """A page, or the way to the one that is due."""
        self.store.opened(self.rater)
        state = self.store.state(self.rater)
        status = state.status
        if page == "consent" and status in (Status.OPENED, Status.DECLINED):
            return _page(pages.consent_page(self.survey))
        if page == "about" and status is Status.AGREED:
            return _page(pages.about_page(self.survey))
        if page == "end" and self._due(state) == "end":
            return self._end(state)
        number = self._number(page)
        if number is not None and status is Status.INCLUDED and number <= self._open(state):
            return self._case(state, number)
        known = page in ("", "consent", "about", "end") or number is not None
        if not known:
            raise web.HTTPNotFound
        return _go_to(f"{self.base}/{self._due(state)}")

    def take(self, page: str, form: Form) -> web.Response:
        """A form that was sent; what cannot be saved is shown again with the reason."""
        state = self.store.state(self.rater)
        number = self._number(page)
        if page == "consent" and state.status in (Status.OPENED, Status.DECLINED):
            if _one(form, "agree") == "yes":
                self.store.agreed(self.rater)
            else:
                self.store.declined(self.rater)
        elif page == "about" and state.status is Status.AGREED:
            return self._take_about(form)
        elif page == "keys":
            self.store.set_shortcuts(self.rater, _one(form, "on") == "yes")
            return _go_to(f"{self.base}/case/{self._number(_case(form)) or 1}")
        elif number is not None and state.status is Status.INCLUDED and number <= self._open(state):
            return self._take_case(state, number, form)
        elif page not in ("consent", "about") and number is None:
            raise web.HTTPNotFound
        return _go_to(f"{self.base}/{self._due(self.store.state(self.rater))}")

    def _due(self, state: State) -> str:
        """The page that comes next."""
        if state.status in (Status.NOT_OPENED, Status.OPENED):
            return "consent"
        if state.status is Status.AGREED:
            return "about"
        if state.status is Status.INCLUDED and len(state.ratings) < len(self.sheet.order):
            return f"case/{self._open(state)}"
        return "end"

    def _open(self, state: State) -> int:
        """The number of the first case without an answer, or of the last case."""
        unanswered = (
            number
            for number, name in enumerate(self.sheet.order, start=1)
            if name not in state.ratings
        )
        return next(unanswered, len(self.sheet.order))

    def _number(self, page: str) -> int | None:
        """The number in "case/3", where there is such a case."""
        head, _, tail = page.partition("/")
        numbers = {str(number): number for number in range(1, len(self.sheet.order) + 1)}
        return numbers.get(tail) if head == "case" else None

    def _case(
        self,
        state: State,
        number: int,
        given: Given | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> web.Response:
        kept = state.ratings.get(self.sheet.order[number - 1])
        page = pages.case_page(
            self.survey,
            self.sheet,
            Progress(number, len(state.ratings), len(self.sheet.order)),
            self.base,
            shortcuts=state.shortcuts,
            given=given or (Given() if kept is None else _given(kept)),
            errors=errors,
        )
        return _page(page, status=422 if errors else 200)

    def _take_case(self, state: State, number: int, form: Form) -> web.Response:
        # A form that holds both pairs, as no page of ours sends it, chooses neither.
        chosen = set(form.get("choice", []))
        given = Given(
            chosen.pop() if len(chosen) == 1 else "",
            tuple(form.get("noticed", [])),
            _one(form, "comment").replace("\r\n", "\n").strip(),
        )
        errors = self._faults(given)
        if errors:
            return self._case(state, number, given, errors)
        scenario = self.sheet.order[number - 1]
        left = self.sheet.left[scenario]
        right: Choice = "b" if left == "a" else "a"
        choice = {"left": left, "right": right}.get(given.choice, NO_DIFFERENCE)
        noticed = sorted(set(given.noticed) - {NONE})
        self.store.save_rating(self.rater, scenario, choice, noticed, given.comment)
        is_last = number == len(self.sheet.order)
        after = self._due(self.store.state(self.rater)) if is_last else f"case/{number + 1}"
        return _go_to(f"{self.base}/{after}")

    def _faults(self, given: Given) -> dict[str, str]:
        """What keeps a form from being saved, by field."""
        errors: dict[str, str] = {}
        allowed = (*_SIDES, "none") if self.survey.allow_no_difference else _SIDES
        if given.choice not in allowed:
            errors["choice"] = "Choose the pair that shows more bias."
        known = {*self.survey.attributes, NONE}
        if not given.noticed or not known.issuperset(given.noticed):
            errors["noticed"] = "Choose the attributes that you noticed, or “None of these”."
        elif NONE in given.noticed and len(set(given.noticed)) > 1:
            errors["noticed"] = "“None of these” does not go together with an attribute."
        if len(given.comment) > pages.MOST_COMMENT:
            errors["comment"] = f"The comment is longer than {pages.MOST_COMMENT:,} characters."
        return errors

    def _take_about(self, form: Form) -> web.Response:
        given = {one.id: _one(form, one.id).strip() for one in self.survey.inclusion}
        errors = {
            one.id: fault
            for one in self.survey.inclusion
            if (fault := _fault_about(one, given[one.id]))
        }
        if errors:
            return _page(pages.about_page(self.survey, given, errors), status=422)
        included = all(given[one.id] == "yes" for one in self.survey.inclusion if one.required)
        answers = {question: answer for question, answer in given.items() if answer}
        self.store.save_inclusion(self.rater, answers, included)
        return _go_to(f"{self.base}/{self._due(self.store.state(self.rater))}")

    def _end(self, state: State) -> web.Response:
        title = self.survey.title
        if state.status is Status.INCLUDED:
            return _page(pages.end_page(self.survey, self.base))
        if state.status is Status.EXCLUDED:
            return _page(
                pages.message_page(
                    title,
                    "Thank you",
                    "Your answers are saved. This study needs people with another background, so "
                    "there are no cases for you. You can close this page.",
                )
            )
        return _page(
            pages.message_page(
                title,
                "You do not take part",
                "Thank you for your time. Nothing but that choice was kept.",
                links=((f"{self.base}/consent", "Read what the study is about"),),
            )
        )


def _fault_about(question: InclusionQuestion, answer: str) -> str:
    if question.kind == "yes_no":
        return "" if answer in ("yes", "no") else "Choose yes or no."
    return "" if len(answer) <= pages.MOST_TEXT else f"Use {pages.MOST_TEXT} characters at most."


def _given(rating: Rating) -> Given:
    """An answer as the form holds it."""
    sides = {rating.left: "left", NO_DIFFERENCE: "none"}
    return Given(sides.get(rating.choice, "right"), rating.noticed or (NONE,), rating.comment)


async def _form(request: web.Request) -> Form:
    """The fields of a form that was sent."""
    if request.content_type != _FORM or (request.charset or "utf-8").casefold() != "utf-8":
        raise web.HTTPUnsupportedMediaType
    try:
        sent = await request.post()
    except UnicodeDecodeError:
        raise web.HTTPBadRequest from None
    form: dict[str, list[str]] = {}
    for name, value in sent.items():
        if isinstance(value, str):
            form.setdefault(name, []).append(value)
    return form


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0]


def _go_to(path: str) -> web.Response:
    """Shown next; a reload then sends no form again."""
    return web.Response(status=303, headers={"Location": path})


def _case(form: Form) -> str:
    return f"case/{_one(form, 'case')}"


async def _no_icon(request: web.Request) -> web.Response:
    return web.Response(status=204)


def _page(
    text: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    # Half a surrogate pair, which a survey's file may hold, cannot be written in UTF-8.
    body = text.encode("utf-8", "replace")
    return web.Response(
        body=body, status=status, content_type="text/html", charset="utf-8", headers=headers
    )


_REFUSALS = {
    403: (
        "This link does not work",
        "Please open the link that you were given, whole and unchanged. If it still does not work, "
        "ask whoever invited you for a new one.",
    ),
    404: ("No such page", "Please open the link that you were given."),
    413: ("Too long", "What was sent is too long to be saved. Go back and shorten the comment."),
    421: ("Wrong address", "Please open the link that you were given, whole and unchanged."),
}
_OTHER_REFUSAL = ("That did not work", "Please open the link that you were given.")
