"""Dimple's execution provider for ONNX Runtime: models on Vulkan devices.

    import dimple_onnxruntime
    import onnxruntime

    devices = dimple_onnxruntime.register()
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices([devices[0]], {})
    session = onnxruntime.InferenceSession("model.onnx", sess_options=options)
"""

import os
import re

__version__ = "@VERSION@"
__all__ = ["get_ep_name", "get_ep_names", "get_library_path", "register", "unregister"]

_REGISTRATION = "dimple"
_CPU_DRIVERS = "DIMPLE_ONNXRUNTIME_CPU"
_LEAST = (1, 24)

# What register() was last called with; None: the provider is not registered.
_registered = None


def get_library_path():
    """The absolute path of the provider's library, which ONNX Runtime loads."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "libdimple_onnxruntime.so")


def get_ep_name():
    """The provider's name: ep_name of its devices."""
    return "DimpleExecutionProvider"


def get_ep_names():
    """The names of all providers in the library: a list of one."""
    return [get_ep_name()]


def register(cpu_drivers=None):
    """Registers the provider with ONNX Runtime and returns its devices.

    They are objects of onnxruntime.OrtEpDevice, for SessionOptions.add_provider_for_devices; a session takes one of
    them. ep_metadata has "index", "name" and "uuid" of each. Further calls return the same devices.

    cpu_drivers: True also offers drivers that compute on the CPU, such as lavapipe; None leaves this to the
    environment variable DIMPLE_ONNXRUNTIME_CPU (1: they are offered).

    Raises RuntimeError if ONNX Runtime is older than 1.24, and ImportError if there is none.
    """
    global _registered
    onnxruntime = _runtime()
    if cpu_drivers is None:
        cpu_drivers = os.environ.get(_CPU_DRIVERS) == "1"
    if _registered is None:
        _load(onnxruntime, cpu_drivers)
        _registered = cpu_drivers
    elif _registered != cpu_drivers:
        raise RuntimeError(
            f"Dimple's provider is registered with cpu_drivers={_registered}; unregister() comes before another choice."
        )
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == get_ep_name()]


def unregister():
    """Takes the provider from ONNX Runtime. Sessions that use it must have gone before."""
    global _registered
    if _registered is not None:
        _runtime().unregister_execution_provider_library(_REGISTRATION)
        _registered = None


def _runtime():
    # Imported when needed: the library's path is of use without. No dependency of the wheel either, since ONNX Runtime
    # comes in packages of several names.
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("Dimple's provider needs ONNX Runtime 1.24 or newer, and there is no onnxruntime.") from error
    version = onnxruntime.__version__
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers or tuple(map(int, numbers.groups())) < _LEAST:
        raise RuntimeError(f"Dimple's provider needs ONNX Runtime 1.24 or newer, this is {version}.")
    return onnxruntime


def _load(onnxruntime, cpu_drivers):
    # Python has no environment options, so the variable says it while the library is asked for its devices.
    before = os.environ.get(_CPU_DRIVERS)
    os.environ[_CPU_DRIVERS] = "1" if cpu_drivers else "0"
    try:
        onnxruntime.register_execution_provider_library(_REGISTRATION, get_library_path())
    finally:
        if before is None:
            del os.environ[_CPU_DRIVERS]
        else:
            os.environ[_CPU_DRIVERS] = before
