"""GPU Explain: measurements that explain why GPUs matter for deep learning, and when they do not."""

__version__ = "0.1.0"
