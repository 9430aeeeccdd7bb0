"""Runs in which every text is hostile: what an imported file, a driver or a colleague could bring."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Case, Conditions, Gauges, Point, Source, Status
from gpuexplain.store.run import RunState, StoredRun

EVIL = "https://evil.example/x"
HOSTILE = (
    f'=1+1 "><img src={EVIL} onerror="window.hacked=1"><script>window.hacked=1</script></script></style></title>'
    f"[click]({EVIL})![pic]({EVIL}) <a href='javascript:window.hacked=1'>a</a> :red[r] $\\frac{{1}}{{2}}$ `c` | # h"
    "\x1b]8;;https://evil.example\x07\x1b[31m\u202egnp\n\n# heading\n\n---\n"
    "\"\"\"\nimport os; os.system('touch hacked')\n'''\n{hacked!r} %s ${hacked} [[term:x|<b>]]"
)


def make_run(experiment: Experiment, machine: Machine, run_id: str, *, everything: bool) -> StoredRun:
    """Return a run of an experiment's own plan with made times.

    Args:
        experiment: Whose plan.
        machine: Of the plan; its id makes the run one of this machine.
        run_id: Its id.
        everything: Whether the names that conclusions look at (series, device) are hostile, too: the door refuses
            such a file, so this is what a database changed by hand could hold.
    """
    params = experiment.params_type()
    cases = experiment.plan_cases(params, machine)
    points = tuple(_point(experiment, case, i, everything) for i, case in enumerate(cases[:40]))
    return StoredRun(
        id=run_id,
        experiment=experiment.id,
        measuring_version=1,
        key=HOSTILE,
        params={**params.model_dump(mode="json"), **({"preset": HOSTILE} if everything else {})},
        machine={**machine.model_dump(mode="json"), "driver_version": HOSTILE},
        device=HOSTILE if everything else "cpu",
        state=RunState.FAILED if everything else RunState.DONE,
        reason=HOSTILE,
        created_at=1_700_000_000.0 + everything,
        finished_at=1_700_000_009.0,
        points=points,
    )


def _point(experiment: Experiment, case: Case, number: int, everything: bool) -> Point:
    time_s = 1e-6 + (case.work or 1.0) / 1e9
    failed = number % 7 == 6
    return Point(
        experiment=experiment.id,
        series=f"{case.series} {HOSTILE}" if everything else case.series,
        x=case.x,
        shape=case.shape,
        dtype=case.dtype,
        device=f"{case.device} {HOSTILE}" if everything else case.device,
        device_name=HOSTILE,
        clock=case.clock,
        threads=case.threads,
        source=Source.RECORDED if everything else Source.MEASURED,
        source_note=HOSTILE,
        status=Status.FAILED if failed else Status.OK,
        reason=HOSTILE,
        timing=HOSTILE,
        samples_s=() if failed else (time_s,) * 7,
        n_samples=0 if failed else 7,
        median_s=None if failed else time_s,
        min_s=None if failed else time_s,
        max_s=None if failed else time_s,
        ci_low_s=None if failed else time_s * 0.99,
        ci_high_s=None if failed else time_s * 1.01,
        first_call_s=None if failed else time_s * 3,
        flops=case.flops or None,
        bytes=case.bytes_moved or None,
        items=case.items or None,
        rel_error=1e-7,
        conditions=Conditions(throttle_reasons=(HOSTILE,), not_reported={"power_w": HOSTILE, HOSTILE: HOSTILE}),
        gauges=Gauges(not_reported={"energy_j": HOSTILE, HOSTILE: HOSTILE}),
    )
