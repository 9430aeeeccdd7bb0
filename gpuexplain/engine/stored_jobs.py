"""How does a run in the store look as a job?"""

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.measuring.session import Coverage
from gpuexplain.store.run import StoredRun


def job_from_run(run: StoredRun, *visitors: str) -> Job:
    """Return the job that a stored run was; its version grows while another process measures it."""
    state = JobState(run.state.value)
    return Job(
        run_id=run.id,
        key=run.key,
        experiment=run.experiment,
        params=run.params,
        state=state,
        version=sum(point.n_samples for point in run.points) + (not state.is_active),
        visitors=visitors,
        points=run.points,
        reason=run.reason,
        coverage=None if run.coverage is None else Coverage.model_validate(run.coverage),
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )
