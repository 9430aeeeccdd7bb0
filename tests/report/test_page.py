"""The page that is kept: whole, offline, escaped, and with the numbers of the findings."""

import json
from dataclasses import replace

import pytest
from report_made import MATMUL, NOW_S, Page, make_machine, make_points, published, stored, told

from gpuexplain.experiments.contract import Headline
from gpuexplain.model import Status
from gpuexplain.report.page import write_run, write_summary

POINTS = make_points(64, 128, 256)
EVIL = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


def summary(*parts: object) -> Page:
    """Return the parsed summary."""
    return Page(write_summary(make_machine(), parts or (told(points=POINTS),), NOW_S))  # type: ignore[arg-type]


def test_it_needs_nothing_from_outside() -> None:
    """No element loads or links elsewhere, and the page itself forbids it."""
    page = summary()
    loading = [(tag, a) for tag, a in page.elements if a.get("src") or tag in ("link", "iframe", "img", "object")]
    links = [a["href"] for tag, a in page.elements if "href" in a and not str(a["href"]).startswith("#")]
    assert (loading, links) == ([], [])
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'; ")
    assert "connect-src" not in str(policy)


def test_plotly_is_inside_once() -> None:
    """One library for all charts, after the figures' data."""
    page = summary(told(points=POINTS), told(replace(MATMUL, id="second"), POINTS))
    assert len(page.scripts) == 3
    assert "plotly.js v" in page.scripts[1]
    assert "<!--" not in page.scripts[0] + page.scripts[1]
    assert set(json.loads(page.scripts[0])) == {"matmul-main", "second-main"}


def test_every_chart_is_there_in_both_themes_and_in_words() -> None:
    """The reader's browser chooses; without scripts the text alternative is shown."""
    page = summary()
    drawn = json.loads(page.scripts[0])["matmul-main"]
    assert set(drawn) == {"light", "dark"}
    assert drawn["light"]["data"] != drawn["dark"]["data"]
    places = {a["id"]: a["aria-label"] for tag, a in page.elements if a.get("class") == "chart"}
    assert places == {"matmul-main": MATMUL.describe_main(MATMUL.find(POINTS))}
    assert page.count("noscript") == 1


def test_the_headline_is_that_of_the_findings() -> None:
    """Nothing is computed for the page."""
    headline = MATMUL.headline(MATMUL.find(POINTS))
    assert headline is not None
    page = summary()
    assert headline.number in page.text
    assert f"{headline.interval}, {headline.detail}" in page.text
    shown = replace(MATMUL, headline=lambda _: Headline("A label", "42 things", "41 to 43", "somewhere"))
    assert "A label 42 things 41 to 43, somewhere" in summary(told(shown, POINTS)).text


def test_it_tells_machine_versions_date_run_and_conditions() -> None:
    """What somebody needs who finds the page a year later."""
    text = summary().text
    for wanted in (
        "30 November 2026, 07:45 UTC",
        "measured on this machine, 30 November 2026, 07:44 UTC",
        "Test CPU",
        "No driver was found.",
        "torch 2.13.0",
        "GPU Explain 0.1.0",
        "20261130-074025-1306",
        "dtype fp32",
        "9 rounds in 11.2 s of 11.0 s",
        "CPU cores kept busy by others 0.0640 to 0.256",
        "All 6 points",
        "95 % interval",  # the method
    ):
        assert wanted in text.replace("\xa0", " "), wanted


def test_what_was_not_measured_here_says_so() -> None:
    """A published series carries its name and its source; a part that failed, its reason."""
    text = summary(told(points=published("A paper, 2024"), run_id="", coverage=None, measured_at=None)).text
    assert "published: Test GPU" in text
    assert "Source A paper, 2024" in text
    assert "measured on this machine" not in text
    assert "No experiments measured on it" in text
    failed = told(state="failed", reason="The worker died. Run it again.")
    assert "The worker died. Run it again." in summary(failed).text


def test_an_incomplete_run_is_marked() -> None:
    """Its state stands beside its date."""
    assert "incomplete: cancelled" in summary(told(points=POINTS, state="cancelled")).text


def test_points_that_did_not_work_say_why() -> None:
    """The reason stands under the table of points."""
    failed = make_points(
        512, status=Status.OOM, reason="Not enough memory.", median_s=None, ci_low_s=None, ci_high_s=None
    )
    assert "cpu, n = 512: oom. Not enough memory." in summary(told(points=(*POINTS, *failed))).text


@pytest.mark.parametrize(
    "parts",
    [
        told(points=published(EVIL, name=EVIL)),
        told(points=make_points(64, 128, reason=EVIL, device_name=EVIL, timing=EVIL)),
        told(points=POINTS, reason=EVIL, state=EVIL, run_id=EVIL, params={EVIL: EVIL}),
    ],
    ids=["published", "point", "run"],
)
def test_text_from_outside_stays_text(parts: object) -> None:
    """No name, note, reason or setting becomes an element."""
    page = summary(parts)
    assert page.count("script") == 3
    assert page.count("img") == 0
    assert [a for _, a in page.elements if any(name.startswith("on") for name in a)] == []
    json.loads(page.scripts[0])


def test_text_from_a_machine_stays_text() -> None:
    """Nor does the name of a CPU or a variable."""
    machine = make_machine()
    odd = machine.model_copy(
        update={"cpu": machine.cpu.model_copy(update={"model": EVIL}), "environment_overrides": {EVIL: EVIL}}
    )
    page = Page(write_summary(odd, [told(points=POINTS)], NOW_S))
    assert (page.count("script"), page.count("img")) == (3, 0)


def test_a_run_is_told_in_full() -> None:
    """Both charts, all the words, every point, the machine as it was."""
    page = Page(write_run(MATMUL, stored(POINTS), NOW_S))
    assert set(json.loads(page.scripts[0])) == {"matmul-main", "matmul-second"}
    words = MATMUL.tell(MATMUL.find(POINTS))
    assert words.why.split(" ", 5)[0] in page.text
    assert page.count("tr") == 1 + len(POINTS)
    assert [a for tag, a in page.elements if tag == "details" and "open" not in a] == []
    assert "Test CPU" in page.text


def test_what_a_run_borrows_is_concluded_from_and_not_listed() -> None:
    """The kept page says what the live one says; the table stays the run's own."""
    seen: list[int] = []
    lender = replace(MATMUL, find=lambda points: seen.append(len(points)) or MATMUL.find(points[: len(POINTS)]))
    page = Page(write_run(lender, stored(POINTS), NOW_S, beside=tuple(make_points(512))))
    assert seen == [len(POINTS) + len(make_points(512))]
    assert page.count("tr") == 1 + len(POINTS)


@pytest.mark.parametrize("machine", [None, {"cpu": "of another release"}], ids=["none", "unreadable"])
def test_a_run_without_a_machine_is_still_told(machine: object) -> None:
    """An import may have none."""
    page = Page(write_run(MATMUL, stored(POINTS, machine=machine), NOW_S))
    assert "This machine" not in page.text
    assert page.count("tr") == 1 + len(POINTS)
