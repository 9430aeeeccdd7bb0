"""The lines that a precision script is put together from: how each format is rounded, placed and timed."""

from gpuexplain.model import Dtype

TORCH_NAMES = {
    Dtype.FP64: "float64",
    Dtype.FP32: "float32",
    Dtype.TF32: "float32",
    Dtype.BF16: "bfloat16",
    Dtype.FP16: "float16",
}

PRODUCT = """n = {n}
generator = torch.Generator().manual_seed(0)
{inputs}
exact = left[:64].double() @ right.double()
{rounding}
{place}

def call():
    return {call}
"""
PRODUCT_RESULTS = """result = call()[:64].cpu().double(){result_unit}
rel_error = float((result - exact).norm() / exact.norm())
print(f"{{2 * n**3 / median_s / 1e9:.2f}} GFLOP/s")
print(f"rel_error={{rel_error!r}}")
"""

STEP = """n, device = {n}, "{device}"
layers = [layer for _ in range({n_layers}) for layer in (nn.Linear(n, n), nn.GELU())]
model = nn.Sequential(*layers[:-1]).to(device)
examples, targets = (torch.rand(n, n).mul(2).sub(1).to(device) for _ in range(2))
weights = list(model.parameters())
scale = {loss_scale}  # fp16 gradients vanish unless the loss is scaled up


def call():
    for weight in weights:
        weight.grad = None
    with {casting}:
        predicted = model(examples)
    (nn.functional.mse_loss(predicted.float(), targets) * scale).backward()
    with torch.no_grad():
        torch._foreach_add_(weights, [weight.grad for weight in weights], alpha=-{learning_rate} / scale)
"""

_UNIFORM = "left, right = (torch.rand(n, n, generator=generator, dtype=torch.{wide}) * 2 - 1 for _ in range(2))"
INPUTS = {
    "uniform": _UNIFORM,
    "normal": "left, right = (torch.randn(n, n, generator=generator, dtype=torch.{wide}) for _ in range(2))",
    "badly_scaled": f"""{_UNIFORM}
scales = 2.0 ** torch.randint(-{{exponent}}, {{exponent}} + 1, (n,), generator=generator).to(torch.{{wide}})
left, right = left * scales, right / scales[:, None]  # the exact product stays the same""",
}

PLAIN_ROUNDING = "left, right = left.to(torch.{dtype}), right.to(torch.{dtype})"
FP8_ROUNDING = '''

def round_fp8(values, dtype):
    """Return the values in fp8, and what one stored unit stands for: the largest value just fits."""
    unit = values.abs().max() / torch.finfo(dtype).max
    largest = torch.finfo(dtype).max
    return (values / unit).clamp(-largest, largest).to(dtype), unit


left, left_unit = round_fp8(left, torch.{left})
right, right_unit = round_fp8(right, torch.{right})
right = right.t().contiguous().t()  # column-major, as the kernels want it'''
INT8_ROUNDING = '''

def round_int8(values):
    """Return the values in int8, and what one stored unit stands for: the largest value just fits."""
    unit = values.abs().max() / 127
    return (values / unit).round().clamp(-127, 127).to(torch.int8), unit


left, left_unit = round_int8(left)
right, right_unit = round_int8(right)
right = right.t().contiguous().t()  # column-major, as the kernels want it'''
