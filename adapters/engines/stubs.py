"""Stubs for what engines import around a kernel. A stub module has every name: decorators pass functions through, is_... and
can_... answer no, classes are empty, everything else returns None; what a kernel's file needs otherwise is overridden."""
import importlib.abc
import importlib.machinery
import sys
import types


def passthrough(*args, **kwargs):
    """A decorator with or without arguments that changes nothing."""
    return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else lambda function: function


class Anything:
    """An object whose attributes are what answer gives for their names."""

    def __init__(self, answer):
        self._answer = answer

    def __getattr__(self, name):
        return self._answer(name)


DECORATORS = ("register_custom_op", "debug_kernel_api", "custom_op", "register_custom_op_from_extern")
COMMON = {
    "is_cuda": lambda: True,
    "is_sm90_supported": lambda *a: True,
    "get_platform": lambda: Anything(lambda name: name in ("is_sm90", "is_cuda")),
    "envs": Anything(lambda name: types.SimpleNamespace(get=lambda: False)),
    "get_device_core_count": lambda *a: 132,
    "get_device_name": lambda *a: "NVIDIA_H200",
    "ceil_align": lambda x, y: -(-x // y) * y,
    "ceil_div": lambda x, y: -(-x // y),
    "cdiv": lambda x, y: -(-x // y),
    "direct_register_custom_op": lambda *a, **k: None,
    "ENABLE_JIT_DEEPGEMM": False,
}


class Empty(type):
    """The class of stub classes: any attribute is a function that returns None, any subscript the class itself."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: None

    def __getitem__(cls, item):
        return cls


class Stub(types.ModuleType):
    """A module that is not there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._overrides:
            return self._overrides[name]
        if name in DECORATORS:
            return passthrough
        if name.startswith(("is_", "can_")):
            return lambda *a, **k: False
        if name[0].isupper() and not name.isupper():
            return Empty(name, (), {"__init__": lambda self, *a, **k: None, "__init_subclass__": classmethod(lambda cls, **k: None)})
        return lambda *a, **k: None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules below a package that nothing else finds."""

    def __init__(self, package, overrides):
        self.package, self.overrides = package, overrides

    def find_spec(self, name, path=None, target=None):
        if name == self.package or name.startswith(self.package + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = Stub(spec.name)
        module.__path__, module._overrides = [], self.overrides
        return module

    def exec_module(self, module):
        pass


def install(package, overrides=None):
    """Makes modules of a package that are not found stubs."""
    sys.meta_path.append(Finder(package, {**COMMON, **(overrides or {})}))
