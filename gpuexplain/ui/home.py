"""Home: this machine in one card, its headline numbers, and one button that measures all of them."""

import html
import time
from collections.abc import Sequence

import streamlit as st

from gpuexplain.engine.jobs import Job
from gpuexplain.engine.tour import RESERVE_S, TOUR_S, Tour, TourPart
from gpuexplain.errors import GpuExplainError
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point, Source
from gpuexplain.registry import CORE
from gpuexplain.report.page import write_summary
from gpuexplain.store.run import DISTURBED_FLAGS
from gpuexplain.ui import engine_access as access
from gpuexplain.ui import tour as touring
from gpuexplain.ui.badges import Badge, badges_markdown
from gpuexplain.ui.head import show_head
from gpuexplain.ui.home_results import Card, card_of_job, latest_card, told_card
from gpuexplain.ui.home_style import HOME_RULES
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.pages import METHOD, lab_page
from gpuexplain.ui.rich_text import plain_markdown, to_html
from gpuexplain.ui.session import tab_id, visitor_id
from gpuexplain.ui.shared_card import needs_agreement, show_neighbours
from gpuexplain.ui.story import why_next
from gpuexplain.ui.viewers import VIEWERS, poll_interval_s
from gpuexplain.wording.machine_words import tell_machine_card
from gpuexplain.wording.phrases import count_of
from gpuexplain.wording.short import format_budget

_VIEWED = "tour"
_LONG_NUMBER = 16  # characters that fit on one line of a card in large type


def show_home() -> None:
    """Write the whole page."""
    show_head("GPU Explain", "What does a GPU really do for deep learning?")
    st.markdown("Measured on the machine in front of you, every sample kept.")
    st.html(f"<style>{HOME_RULES}</style>")
    try:
        machine = access.get_machine()
        tour = touring.latest_tour()
        cards = [latest_card(experiment, machine) for experiment in CORE]
        _show_start(machine, tour, cards)
        left, right = st.columns([2, 1], gap="medium")
        with left:
            _show_live(tour, cards)
            _show_keep(machine, cards)
            _show_story()
        with right:
            _show_machine(machine)
    except GpuExplainError as error:
        show_error(error)


# -- the one button -------------------------------------------------------------------------------


def _show_start(machine: Machine, tour: Tour | None, cards: list[Card]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="home-start"):
        if tour is not None and tour.is_active:
            _show_cancel(tour)
        else:
            is_again = all(card.result.source is Source.MEASURED for card in cards)
            st.button(
                "Measure again" if is_again else "Measure this machine",
                key="run",
                type="primary",
                icon=":material/play_arrow:",
                disabled=access.get_runner().status().read_only or needs_agreement(touring.DEVICE, machine),
                on_click=touring.start_tour,
                args=(machine,),
            )
        st.html(f'<div class="gx-visible-cost">{html.escape(_say_cost(tour))}</div>')
    if tour is None or not tour.is_active:
        show_neighbours(touring.DEVICE, machine)
    refused = st.session_state.get(touring.ERROR_SLOT)
    if refused:
        show_error(refused, icon=":material/error:")


def _show_cancel(tour: Tour) -> None:
    mine = visitor_id() in tour.visitors
    st.button(
        "Cancel",
        key="cancel",
        icon=":material/stop:",
        disabled=not mine,
        help=None if mine else "Somebody else asked for this tour; you are watching it.",
        on_click=touring.cancel_tour,
    )


def _say_cost(tour: Tour | None) -> str:
    """Return what the button costs, or who else waits for what it started."""
    if tour is not None and tour.is_active:
        if visitor_id() not in tour.visitors:
            return "Another visitor asked for this tour; you are watching it."
        others = len(tour.visitors) - 1
        shared = f" {count_of(others, 'other visitor').capitalize()} asked for it, too." if others else ""
        return f"You may leave this page: the tour goes on, and each experiment's page fills.{shared}"
    status = access.get_runner().status()
    if status.read_only:
        return "Measuring is off here: this installation shows results only."
    planned_s = sum(min(TOUR_S, e.tour_params.sweep_budget_s + RESERVE_S) for e in CORE if e.tour_params)
    text = f"{count_of(len(CORE), 'experiment').capitalize()}, about {format_budget(round(min(TOUR_S, planned_s)))}"
    if status.running is not None:
        text += f", after {count_of(1 + status.queue_length, 'run')} already asked for"
    return f"{text}. Nothing leaves this machine."


# -- the numbers ----------------------------------------------------------------------------------


def _show_live(tour: Tour | None, cards: list[Card]) -> None:
    """Draw the part of the page that moves, and poll while a tour is under way."""
    is_active = tour is not None and tour.is_active
    current = _current(tour)
    viewers = VIEWERS.note(_VIEWED, tab_id()) if is_active else 0

    @st.fragment(run_every=poll_interval_s(viewers) if is_active else None)
    def live() -> None:
        now = touring.latest_tour()
        # With each part the rest of the page changes, too: the sidebar says what runs.
        if is_active and _current(now) != current:
            st.rerun()
        if is_active:
            VIEWERS.note(_VIEWED, tab_id())
        _draw_live(now, cards)

    live()


def _current(tour: Tour | None) -> str:
    """Return the experiment whose turn it is, "" when no tour is under way."""
    part = tour.current if tour is not None and tour.is_active else None
    return part.experiment if part is not None else ""


def _draw_live(tour: Tour | None, cards: list[Card]) -> None:
    if tour is not None and tour.is_active:
        share, text = touring.progress_of_tour(tour)
        st.progress(share, plain_markdown(text))
    elif tour is not None:
        said, is_bad = touring.say_end(tour)
        (st.warning if is_bad else st.caption)(plain_markdown(said))
    parts = {part.experiment: part for part in tour.parts} if tour is not None and tour.is_active else {}
    for first in range(0, len(cards), 2):
        for column, card in zip(st.columns(2, gap="small"), cards[first : first + 2], strict=False):
            with column:
                _show_card(card, parts.get(card.experiment.id))


def _show_card(stored: Card, part: TourPart | None) -> None:
    """Write one number; while a tour is under way, what it measures takes the stored one's place."""
    job: Job | None = access.get_runner().job(part.run_id) if part is not None and part.run_id else None
    card = card_of_job(stored.experiment, job) if job is not None and job.points else stored
    experiment = card.experiment
    page = lab_page(experiment.id)
    with st.container(border=True, height="stretch", key=f"home-card-{experiment.id}"):
        if page is not None:
            st.page_link(page.script, label=page.title, icon=page.icon, query_params=dict(card.query) or None)
        st.html(f'<div class="gx-card">{_number_html(card)}{_part_html(part)}</div>')
        # Where a published series was printed is said on its page: here it would be longer than the card.
        badges = [badge for badge in card.result.badges if not badge.text.startswith("source: ")]
        badges += [Badge("measured under load", "warning")] if _is_disturbed(card.result.points) else []
        if badges:
            st.markdown(badges_markdown(badges))


def _is_disturbed(points: Sequence[Point]) -> bool:
    """Return whether other work touched most of the points: the number is a lower bound then."""
    measured = [p for p in points if p.source is Source.MEASURED and p.median_s is not None]
    touched = [p for p in measured if set(DISTURBED_FLAGS).intersection(p.flags)]
    return len(touched) > len(measured) / 2


def _number_html(card: Card) -> str:
    headline = card.headline
    if headline is None:
        return f'<div class="gx-label">{to_html(card.experiment.teaser)}</div>'
    notes = ", ".join(filter(None, [headline.interval, headline.detail]))
    long = " gx-long" if len(headline.number) > _LONG_NUMBER else ""
    return (
        f'<div class="gx-label">{html.escape(headline.label)}</div>'
        f'<div class="gx-number{long}">{html.escape(headline.number)}</div>'
        f'<div class="gx-note">{html.escape(notes)}</div>'
    )


def _part_html(part: TourPart | None) -> str:
    said = touring.say_part(part) if part is not None else ""
    if part is None or not said:
        return ""
    return f'<div class="gx-now{" gx-bad" if part.has_failed else ""}">{html.escape(said)}</div>'


# -- what stays -----------------------------------------------------------------------------------


def _show_keep(machine: Machine, cards: list[Card]) -> None:
    """Offer the numbers as a page to keep, once there is one of this machine."""
    with st.container(horizontal=True, vertical_alignment="center", key="home-keep"):
        if any(card.result.source is Source.MEASURED for card in cards):
            st.download_button(
                "Download the summary",
                lambda: write_summary(machine, [told_card(card) for card in cards], time.time()),
                file_name="gpuexplain-summary.html",
                mime="text/html",
                icon=":material/download:",
                on_click="ignore",
                key="summary",
                help="One page that opens offline: this machine, its numbers, charts, conditions and sources.",
            )
        st.page_link(METHOD.script, label=METHOD.title, icon=METHOD.icon)


def _show_story() -> None:
    """Say where to begin reading."""
    first = lab_page(CORE[0].id)
    if first is not None:
        with st.container(key="home-story", gap=None):
            st.markdown(why_next(first.name))
            st.page_link(first.script, label=f"Begin: {first.title}", icon=first.icon)


def _show_machine(machine: Machine) -> None:
    card = tell_machine_card(machine)
    with st.container(border=True, key="home-machine"):
        st.subheader("This machine", anchor=False)
        pairs = (line.split(": ", 1) for line in card.lines)
        rows = "".join(
            f"<dt>{html.escape(parts[0])}</dt><dd>{html.escape(parts[1])}</dd>"
            if len(parts) == 2
            else f"<dt>Note</dt><dd>{html.escape(parts[0])}</dd>"
            for parts in pairs
        )
        st.html(f'<dl class="gx-facts">{rows}</dl>')
        if card.problem is not None:
            st.info(f"**What would help:** {_with_code(card.problem.remedy)}", icon=":material/lightbulb:")


def _with_code(text: str) -> str:
    """Return a text as Markdown in which only what stands between backticks is set apart, as code."""
    pieces = text.split("`")
    shown = (f"`{piece}`" if number % 2 and piece else plain_markdown(piece) for number, piece in enumerate(pieces))
    return "".join(shown) if len(pieces) % 2 else plain_markdown(text)
