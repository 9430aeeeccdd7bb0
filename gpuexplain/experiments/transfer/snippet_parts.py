"""The texts that the standalone scripts are put together from."""

from gpuexplain.experiments.transfer import spec

DATA = "Values are seeded and uniform in [-1, 1); the copy is checked once."
GENERATOR = "generator = torch.Generator().manual_seed(0)\n"

_SIZES = """length, n_places = {length}, {n_places}  # fp32 values of one copy; places, so that no cache helps
"""
_HOST = """host = torch.rand(length * n_places, generator=generator).mul_(2).sub_(1)
"""
_PINNED = """try:
    host = torch.empty(length * n_places, pin_memory=True)
except RuntimeError as error:
    print(f"pinning failed ({{error}}): pageable memory instead")
    host = torch.empty(length * n_places)
host.copy_(torch.rand(length * n_places, generator=generator).mul_(2).sub_(1))
"""
_SECOND = """second = host.clone()
"""
_ON_DEVICE = """second = host.to("{device}")
"""
_PLACES = """order = list(range(n_places))
random.Random(0).shuffle(order)
slices = [slice(i * length, (i + 1) * length) for i in order]
places = itertools.cycle([({target}[part], {source}[part]) for part in slices])
"""
_CALL = """

def call() -> None:
    target, source = next(places)
    target.copy_(source{options})

"""
_CHECK = """
target, source = next(places)
target.zero_()
target.copy_(source)
assert torch.equal(target.cpu(), source.cpu())
"""
_FRESH_CALL = """
places = itertools.cycle([host[part] for part in slices])
private = dict(flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) if hasattr(mmap, "MAP_PRIVATE") else {{}}


def call() -> None:
    pages = mmap.mmap(-1, 4 * length, **private)  # its pages come at the first touch
    target = torch.frombuffer(pages, dtype=torch.float32)
    target.copy_(next(places))
    del target
    pages.close()

"""
_PIN_CALL = """
alive = None
give_back = getattr(torch._C, "_host_emptyCache", None) or getattr(torch._C, "_accelerator_emptyHostCache", None)


def between() -> None:
    global alive
    alive = None
    if give_back is not None:
        give_back()  # so that every copy pins anew


def call() -> None:
    global alive
    target, source = next(places)
    alive = source.pin_memory()  # kept until the synchronisation
    target.copy_(alive, non_blocking=True)

"""
_PIECES_CALL = """piece = {piece}
split = itertools.cycle(
    [
        list(zip(torch.split({target}[part], piece), torch.split({source}[part], piece), strict=True))
        for part in slices
    ]
)


def call() -> None:
    for target, source in next(split):
        target.copy_(source{options})

"""
_OPERANDS = """left = torch.rand({side}, {side}, generator=generator) * 2 - 1
right = torch.rand({side}, {side}, generator=generator) * 2 - 1
"""
_PRODUCT_CALL = """

def call() -> None:
    torch.mm(left, right)

"""
_PRODUCT_COPIES = """left_there = torch.empty_like(left, device="{device}")
right_there = torch.empty_like(right, device="{device}")
result, result_there = torch.empty({side}, {side}), left.to("{device}")


def call() -> None:
    left_there.copy_(left)
    right_there.copy_(right)
    result.copy_(result_there)

"""
_OVERLAP = """left, right = left.to("{device}"), right.to("{device}")
result = torch.empty_like(left)
computing, copying = torch.cuda.Stream(), torch.cuda.Stream()


def seconds(operation) -> float:
    torch.cuda.synchronize()
    started_s = time.perf_counter()
    operation()
    torch.cuda.synchronize()
    return time.perf_counter() - started_s


def product() -> None:
    torch.mm(left, right, out=result)


def copy() -> None:
    second.copy_(host, non_blocking=True)


product_s, copy_s = [(seconds(operation), seconds(operation))[1] for operation in (product, copy)]
n_products = max(1, round(1.2 * copy_s / product_s))  # a little longer than the copy
print(f"{{n_products}} products")


def call() -> None:
    with torch.cuda.stream(computing):
        for _ in range(n_products):
            product()
"""
_COPY_BESIDE = """    with torch.cuda.stream(copying):
        copy()
"""


def _fill(text: str, **words: str) -> str:
    """Put words into a part, leaving the other braces for the sizes."""
    for name, word in words.items():
        text = text.replace("{" + name + "}", word)
    return text


def _copy(host: str, second: str, *, to_second: bool = True, options: str = "", call: str = _CALL) -> str:
    target, source = ("second", "host") if to_second else ("host", "second")
    ends = {"target": target, "source": source, "options": options}
    return _SIZES + host + second + _fill(_PLACES, **ends) + _CHECK + _fill(call, **ends)


_NOW = ", non_blocking=True"
_MEMORY_COPY = _copy(_HOST, _SECOND)
WORK: dict[str, str] = {
    spec.MEMORY_COPY: _MEMORY_COPY,
    spec.MEMORY_COPY_ONE_THREAD: _MEMORY_COPY,
    spec.MEMORY_COPY_FRESH: _copy(_HOST, _SECOND, call=_FRESH_CALL),
    spec.MEMORY_COPY_PIECES: _copy(_HOST, _SECOND, call=_PIECES_CALL),
    spec.H2D_PAGEABLE: _copy(_HOST, _ON_DEVICE),
    spec.D2H_PAGEABLE: _copy(_HOST, _ON_DEVICE, to_second=False),
    spec.H2D_PINNED: _copy(_PINNED, _ON_DEVICE, options=_NOW),
    spec.D2H_PINNED: _copy(_PINNED, _ON_DEVICE, to_second=False, options=_NOW),
    spec.H2D_PINNED_DEVICE: _copy(_PINNED, _ON_DEVICE, options=_NOW),
    spec.H2D_PIN_THEN_COPY: _copy(_HOST, _ON_DEVICE, call=_PIN_CALL),
    spec.H2D_PIECES: _copy(_HOST, _ON_DEVICE, call=_PIECES_CALL),
    spec.H2D_PINNED_PIECES: _copy(_PINNED, _ON_DEVICE, call=_PIECES_CALL, options=_NOW),
    spec.CPU_PRODUCT: _OPERANDS + _PRODUCT_CALL,
    spec.GPU_PRODUCT: _OPERANDS + 'left, right = left.to("{device}"), right.to("{device}")\n' + _PRODUCT_CALL,
    spec.PRODUCT_COPIES: _OPERANDS + _PRODUCT_COPIES,
    spec.OVERLAP_COMPUTE: _SIZES + _PINNED + _ON_DEVICE + _OPERANDS + _OVERLAP + "\n",
    spec.OVERLAP_BOTH: _SIZES + _PINNED + _ON_DEVICE + _OPERANDS + _OVERLAP + _COPY_BESIDE + "\n",
}
