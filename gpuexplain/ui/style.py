"""The few style rules that Streamlit's theme cannot express, fed from the one table of colours."""

import streamlit as st

from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, SOFT_OPACITY, Theme, with_alpha
from gpuexplain.model import PRESET_BUDGET_S
from gpuexplain.ui.session import current_theme, is_presenting
from gpuexplain.ui.style_rules import PRESENTER_RULES, RULES


def apply_style() -> None:
    """Write the rules into the page, for the theme that the browser shows."""
    presenting = PRESENTER_RULES if is_presenting() else ""
    st.html(f"<style>{_variables(current_theme())}{_preset_seconds()}{RULES}{presenting}</style>")


def _variables(theme: Theme) -> str:
    palette = PALETTES[theme]
    names = {
        "text": palette.text,
        "muted": palette.muted,
        "line": palette.line,
        "second": palette.second,
        "background": palette.background,
        # Streamlit writes white on every primary button; the dark theme's primary is too bright for it.
        "on-primary": "#FFFFFF" if theme == "light" else "#0B1016",
    }
    for entity, look in ENTITY_STYLES.items():
        names[entity.value] = look.color(theme)
        names[f"{entity.value}-soft"] = with_alpha(look.color(theme), SOFT_OPACITY)
    return ":root{" + "".join(f"--gx-{name}:{color};" for name, color in names.items()) + "}"


def _preset_seconds() -> str:
    """Return the rules that write each preset's seconds after its name.

    The label itself stays the value, because Streamlit writes labels into the address bar.
    """
    place = ".st-key-preset [role=radio]"
    return "".join(
        f'{place}:nth-of-type({number}) p::after{{content:"{seconds:g}\\00a0 s"}}'
        for number, seconds in enumerate(PRESET_BUDGET_S.values(), 1)
    )
