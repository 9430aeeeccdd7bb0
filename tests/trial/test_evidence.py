"""Which run speaks for a lab."""

import scaling_made
from trial_made import NO_GPU

from gpuexplain.experiments.scaling.conclude import ScalingFindings
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Flag, Point, Preset, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState, StoredRun
from gpuexplain.trial.evidence import exhibit_of, gather, pick_run, short_params

SCALING = EXPERIMENTS["scaling"]


def _run(
    run_id: str, *, state: RunState = RunState.DONE, points: list[Point] | None = None, where: Machine = NO_GPU, **asked
) -> StoredRun:
    points = scaling_made.steps(0.1, 0.06) if points is None else points
    return StoredRun(
        id=run_id,
        experiment="scaling",
        measuring_version=1,
        key="k",
        params=SCALING.params_type(**asked).model_dump(mode="json"),
        machine=where.model_dump(mode="json"),
        device="cpu",
        state=state,
        created_at=1.0,
        finished_at=2.0,
        n_points=len(points),
        points=tuple(points),
    )


def _elsewhere() -> Machine:
    return NO_GPU.model_copy(update={"platform": NO_GPU.platform.model_copy(update={"machine_id": "other"})})


def test_the_newest_whole_run_of_the_usual_question_speaks() -> None:
    """Its effort does not matter; other settings, other machines and half a run do."""
    runs = [
        _run("running", state=RunState.RUNNING),
        _run("elsewhere", where=_elsewhere()),
        _run("empty", points=[]),
        _run("cancelled", state=RunState.CANCELLED),
        _run("wide", width=1024),
        _run("quick", preset=Preset.QUICK),
        _run("older"),
    ]
    picked = [pick_run(SCALING, runs[n:], NO_GPU) for n in range(len(runs) + 1)]
    assert [run.id if run else None for run in picked] == ["quick"] * 6 + ["older", None]


def test_another_question_speaks_where_there_is_no_usual_one_and_says_so() -> None:
    """Then half a run."""
    runs = [_run("cancelled", state=RunState.CANCELLED), _run("wide", width=1024)]
    picked = pick_run(SCALING, runs, NO_GPU)
    assert picked is not None
    assert picked.id == "wide"
    assert exhibit_of(SCALING, runs[1]).settings == (("width", "1024"),)
    assert pick_run(SCALING, runs[:1], NO_GPU) is not None


def test_only_what_was_measured_here_is_concluded_from() -> None:
    """Points that came from elsewhere into a run say nothing of this machine."""
    strange = [p.model_copy(update={"source": Source.RECORDED}) for p in scaling_made.steps(0.1, 0.01)]
    found = exhibit_of(SCALING, _run("mixed", points=[*strange, *scaling_made.steps(0.1, 0.06)])).findings
    assert isinstance(found, ScalingFindings)
    assert found.most is not None
    assert round(found.most.factor, 2) == 1.67


def test_disturbed_points_are_counted_by_what_disturbed_them() -> None:
    """Most of them: the numbers are provisional."""
    points = scaling_made.steps(0.1, 0.06)
    loaded = [p.model_copy(update={"flags": (Flag.UNDER_LOAD, Flag.FEW_SAMPLES)}) for p in points[:3]]
    found = exhibit_of(SCALING, _run("loaded", points=[*loaded, *points[3:]]))
    assert (found.n_timed, found.n_disturbed, found.flags) == (4, 3, (Flag.UNDER_LOAD,))
    assert found.is_disturbed
    assert not exhibit_of(SCALING, _run("clean")).is_disturbed


def test_labs_without_a_run_have_no_exhibit() -> None:
    """Those with one are concluded from it."""
    runs = {"scaling": [_run("a")]}
    found = gather(
        tuple(EXPERIMENTS.values()), NO_GPU, lambda lab: runs.get(lab, []), lambda e, run: exhibit_of(e, runs[e.id][0])
    )
    assert list(found) == ["scaling"]


def test_a_first_run_is_a_short_one() -> None:
    """The tour's settings where there are some, else the quick preset: within 20 seconds."""
    assert all(short_params(experiment).sweep_budget_s <= 12 for experiment in EXPERIMENTS.values())
    assert short_params(SCALING).preset is Preset.QUICK
