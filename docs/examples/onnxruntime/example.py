"""Runs a model in ONNX Runtime with Dimple's execution provider.

    example.py MODEL

Registers the provider, takes its first device, and prints what the model makes of six ones.
example.cpp beside this file does the same.
"""

import sys

import dimple_onnxruntime
import numpy
import onnxruntime


def run(device, model):
    """The outputs; the model is y = Relu(x * w + b), with three columns in x and two in y."""
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices([device], {})
    # A node that is left to the CPU is an error here. Most programs allow such nodes.
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    session = onnxruntime.InferenceSession(model, sess_options=options)
    return session.run(None, {"x": numpy.ones((2, 3), numpy.float32)})


def main():
    if len(sys.argv) != 2:
        sys.exit("example.py MODEL")
    devices = dimple_onnxruntime.register()
    for device in devices:
        print(f"device {device.ep_metadata['index']}: {device.ep_metadata['name']}")
    if not devices:
        sys.exit("There is no Vulkan device. DIMPLE_ONNXRUNTIME_CPU=1 asks for drivers on the CPU.")
    for output in run(devices[0], sys.argv[1]):
        print("y:", *(f"{value:g}" for value in output.flatten()))


if __name__ == "__main__":
    main()
