"""May this run disturb whoever else computes on the GPU? The visitor decides, before the button works."""

import streamlit as st

from gpuexplain.engine.neighbours import tell_neighbours
from gpuexplain.hardware.machine import Machine
from gpuexplain.ui.notices import show_warning

AGREED = "may_disturb"


def needs_agreement(device: str, machine: Machine) -> bool:
    """Whether somebody else computes there and this visitor has not agreed to disturb them."""
    return bool(tell_neighbours(device, machine)) and not has_agreed()


def has_agreed() -> bool:
    """Whether this visitor has ticked the box."""
    return bool(st.session_state.get(AGREED))


def show_neighbours(device: str, machine: Machine) -> None:
    """Write who else computes on the device, and the box that lets a run disturb them; nothing if nobody does."""
    if neighbours := tell_neighbours(device, machine):
        show_warning(neighbours, icon=":material/group:")
        st.checkbox("Measure all the same", key=AGREED)
