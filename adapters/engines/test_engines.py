"""Tests of the adapters' own parts, without torch and without an engine: python3 -m unittest discover adapters/engines"""
import ast
import glob
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import stubs  # noqa: E402

WORKERS = ("sglang_triton", "vllm_triton", "deepgemm", "liger", "fla_norms", "sgl_kernel_cuda", "planted")


class Stubs(unittest.TestCase):
    def test_what_is_missing_below_a_package_is_a_stub(self):
        stubs.install("no_such_engine", {"answer": 42})
        from no_such_engine.deep.inside import Platform, answer, custom_op, is_hip, register

        self.assertEqual((answer, is_hip(), register(1, 2)), (42, False, None))
        self.assertEqual(custom_op(len), len)
        self.assertEqual(custom_op("name", mutates=())(len), len)
        self.assertIsNone(Platform.something())
        self.assertIs(Platform["key"], Platform)

        class Kernel(Platform["key"], option=1):
            pass

        with self.assertRaises(ImportError):
            import another_missing_engine  # noqa: F401

    def test_what_is_there_is_not_replaced(self):
        stubs.install("json")
        import json.decoder

        self.assertNotIsInstance(json.decoder, stubs.Stub)


class Sources(unittest.TestCase):
    def test_kernel_files_come_out_of_a_wheel(self):
        import tempfile
        import zipfile

        import sources

        with tempfile.TemporaryDirectory() as folder:
            wheel = os.path.join(folder, "vllm-9.9.9-py3-none-any.whl")
            with zipfile.ZipFile(wheel, "w") as z:
                z.writestr("vllm/__init__.py", "raise ImportError")
                z.writestr("vllm/v1/attention/ops/triton_decode_attention.py", "x = 1")
                z.writestr("vllm/v1/attention/ops/other.py", "x = 2")
            out = os.path.join(folder, "out")
            sources.main([out, wheel])
            found = sorted(os.path.relpath(os.path.join(r, n), out) for r, _, names in os.walk(out) for n in names)
            self.assertEqual(found, ["VERSIONS.json", "vllm/v1/attention/ops/triton_decode_attention.py"])
            for arguments, words in ((["x"], "python3"), ([out, wheel], "exists"), ([out + "2", os.path.join(folder, "torch-1-x.whl")], "no adapter")):
                with self.assertRaisesRegex(SystemExit, words):
                    sources.main(arguments)
            self.assertEqual(sorted(os.listdir(folder)), ["out", "vllm-9.9.9-py3-none-any.whl"])


class Adapters(unittest.TestCase):
    """An adapter is short, and takes parameters that the operator has."""

    def operators(self, name):
        with open(os.path.join(HERE, name + ".py"), encoding="utf-8") as f:
            for node in ast.parse(f.read()).body:
                for d in getattr(node, "decorator_list", []):
                    if isinstance(d, ast.Call) and getattr(d.func, "id", "") == "op":
                        yield d.args[0].value, node

    def test_parameters_are_those_of_the_table(self):
        import re

        with open(os.path.join(HERE, "..", "README.md"), encoding="utf-8") as f:
            table = f.read().partition("<!-- operators:")[2]
        words = {}
        for part in table.split("#### ")[1:]:
            words[re.match(r"`(\w+)`", part)[1]] = set(re.findall(r"^\| (?:operand|output|attribute) \| `(\w+)`", part, re.M))
        seen = 0
        for worker in WORKERS:
            for name, function in self.operators(worker):
                seen += 1
                self.assertLessEqual({a.arg for a in function.args.args} - {"call"}, words[name], f"{worker}: {name}")
        self.assertGreater(seen, 40)

    def test_an_adapter_is_short(self):
        for worker in WORKERS:
            for name, function in self.operators(worker):
                self.assertLessEqual(function.end_lineno - function.lineno, 34, f"{worker}: {name}")

    def test_every_worker_is_listed(self):
        with_ops = {os.path.basename(p)[:-3] for p in glob.glob(os.path.join(HERE, "[!t]*.py")) if "\nserve(" in open(p).read() or "    serve(" in open(p).read()}
        self.assertEqual(with_ops, set(WORKERS))


if __name__ == "__main__":
    unittest.main()
