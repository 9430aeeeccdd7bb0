"""What can go wrong, told so that a person can act: what failed, what we had, what to do."""


class GpuExplainError(Exception):
    """Base of every error this package raises on purpose; its text is fit to show."""


class InputError(GpuExplainError):
    """Somebody gave us a value we cannot use (form, URL, command line, file or environment)."""


class PointsError(GpuExplainError):
    """A frame of points does not hold what an analysis needs."""


class StoreError(GpuExplainError):
    """The store cannot be read or written."""


class StoreDamagedError(StoreError):
    """The file of the store is no sound database."""


class EngineError(GpuExplainError):
    """A job could not be taken or finished by the engine."""


class ConfirmationError(EngineError):
    """A run would disturb somebody, and whoever asked for it has not said that it may."""


class QueueFullError(EngineError):
    """The queue, or the caller's share of it, is full."""


class NothingMeasuredError(GpuExplainError):
    """A run ended without a single usable point."""


class UnsupportedError(GpuExplainError):
    """This machine cannot do what a case asks for; the text says why."""
