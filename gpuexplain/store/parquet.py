"""How does a run leave the store as a Parquet file? One row a point, typed columns, no raw samples.

The columns are those of ``points_frame``, then the run's as in the CSV; they are read back with
``pandas.read_parquet``. Version history: that of ``StoredRun.schema_version``.
"""

import io

from gpuexplain.points import points_frame
from gpuexplain.store.run import StoredRun


def export_parquet(run: StoredRun) -> bytes:
    """Return the run as the content of a Parquet file."""
    frame = points_frame(run.points).assign(
        schema_version=StoredRun.schema_version,
        run_id=run.id,
        measuring_version=run.measuring_version,
        run_state=run.state.value,
        created_at=run.created_at,
    )
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()
