"""Nothing that is sent is ever unpickled or run: pickles are refused under any name, and no code could load one."""

import ast
import pickle
from pathlib import Path

import pytest

from gpuexplain.analyse import ANALYSES, analyse_content
from gpuexplain.errors import InputError
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.exports import read_json
from gpuexplain.ui.upload_read import read_content

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted([ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("gpuexplain/**/*.py")])
NAMES = ("run.csv", "run.json", "run.pkl", "model.pt", "array.npy", "data.parquet", "run.csv.gz", "run")
UNSAFE_MODULES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "yaml"}
# torch.load and numpy.load unpickle, pandas.read_pickle says so; json.load and ours have names of their own.
UNSAFE_CALLS = {
    "torch.load", "torch.jit.load", "numpy.load", "np.load", "pandas.read_pickle", "pd.read_pickle", "pd.eval",
    "eval", "exec", "compile", "__import__", "os.system", "os.popen",
}  # fmt: skip


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.fixture(params=[0, 2, 5], ids=lambda protocol: f"protocol {protocol}")
def bomb(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[bytes, Path]:
    """A pickle, and the file whose existence would betray that it was loaded."""
    fuse = tmp_path / "fuse"
    content = pickle.dumps({"n": [1, 2], "seconds": Bomb(fuse)}, protocol=request.param)
    pickle.loads(content)
    assert fuse.exists()  # the bomb works
    fuse.unlink()
    return content, fuse


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_is_refused_under_any_name(bomb: tuple[bytes, Path], name: str) -> None:
    """By the command line's reading, the pages' and the import."""
    content, fuse = bomb
    for experiment in ANALYSES:
        with pytest.raises(InputError, match="Cannot read"):
            analyse_content(experiment, content, name)
    for experiment in EXPERIMENTS.values():
        with pytest.raises(InputError, match="Cannot read"):
            read_content(experiment, content, name)
    with pytest.raises(InputError, match="Cannot read"):
        read_json(content.decode("latin-1"), name)
    assert not fuse.exists()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_could_unpickle_or_run_what_was_sent(path: Path) -> None:
    """No module that does is imported, no function that does is called."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in UNSAFE_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in UNSAFE_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            found += [ast.unparse(node.func)] if ast.unparse(node.func) in UNSAFE_CALLS else []
            found += [k.arg for k in node.keywords if k.arg in ("allow_pickle", "shell") and not _is_false(k.value)]
    assert found == []


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
