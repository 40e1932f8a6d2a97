"""The wheel's module with stand-ins for onnxruntime: which versions it takes, and what it asks of them."""

import os
import sys
import types
import unittest

import dimple_onnxruntime


class Runtime(types.ModuleType):
    """Notes which libraries are registered, and what the variable said then."""

    def __init__(self, version):
        super().__init__("onnxruntime")
        self.__version__ = version
        self.registered = {}

    def register_execution_provider_library(self, name, path):
        assert name not in self.registered
        self.registered[name] = (path, os.environ["DIMPLE_ONNXRUNTIME_CPU"])

    def unregister_execution_provider_library(self, name):
        del self.registered[name]

    def get_ep_devices(self):
        names = ["CPUExecutionProvider"] + ["DimpleExecutionProvider"] * len(self.registered)
        return [types.SimpleNamespace(ep_name=name) for name in names]


class ModuleTest(unittest.TestCase):
    def setUp(self):
        os.environ.pop("DIMPLE_ONNXRUNTIME_CPU", None)

    def tearDown(self):
        sys.modules["onnxruntime"] = Runtime("1.24.0")
        dimple_onnxruntime._registered = None

    def use(self, version):
        sys.modules["onnxruntime"] = Runtime(version)
        return sys.modules["onnxruntime"]

    def test_library_is_there(self):
        path = dimple_onnxruntime.get_library_path()
        self.assertTrue(os.path.isabs(path) and os.path.isfile(path))

    def test_older_runtime_is_refused(self):
        for version in ("1.23.2", "1.9.0", "0.30", "unknown"):
            self.use(version)
            with self.assertRaises(RuntimeError) as raised:
                dimple_onnxruntime.register()
            self.assertEqual(
                str(raised.exception), f"Dimple's provider needs ONNX Runtime 1.24 or newer, this is {version}."
            )

    def test_no_runtime_is_refused(self):
        sys.modules["onnxruntime"] = None
        with self.assertRaisesRegex(ImportError, "there is no onnxruntime"):
            dimple_onnxruntime.register()

    def test_registered_once(self):
        for version in ("1.24.0", "1.27.1", "1.30.0.dev20260801", "2.0"):
            runtime = self.use(version)
            devices = dimple_onnxruntime.register()
            self.assertEqual([device.ep_name for device in devices], dimple_onnxruntime.get_ep_names())
            self.assertEqual(len(dimple_onnxruntime.register()), 1)
            self.assertEqual(runtime.registered, {"dimple": (dimple_onnxruntime.get_library_path(), "0")})
            dimple_onnxruntime.unregister()
            self.assertEqual(runtime.registered, {})

    def test_drivers_on_the_processor(self):
        runtime = self.use("1.27.1")
        dimple_onnxruntime.register(cpu_drivers=True)
        self.assertEqual(runtime.registered["dimple"][1], "1")
        self.assertNotIn("DIMPLE_ONNXRUNTIME_CPU", os.environ)
        with self.assertRaisesRegex(RuntimeError, "registered with cpu_drivers=True"):
            dimple_onnxruntime.register(cpu_drivers=False)
        dimple_onnxruntime.unregister()
        os.environ["DIMPLE_ONNXRUNTIME_CPU"] = "1"
        dimple_onnxruntime.register()
        self.assertEqual(runtime.registered["dimple"][1], "1")


if __name__ == "__main__":
    unittest.main()
