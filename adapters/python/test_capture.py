"""Tests of capture.py without torch: python3 -m unittest discover adapters/python"""
import gzip
import json
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import capture  # noqa: E402

TRACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures/nano-v4/hf_trace_391.safetensors.gz")


def header(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))


class Capture(unittest.TestCase):
    def test_every_name_that_is_kept_is_in_the_committed_trace(self):
        names = set(header(TRACE))
        for module in ("attn_hc", "ffn_hc"):
            self.assertEqual(capture.wanted("model.layers.3." + module), (True, True))
            self.assertIn(f"model.layers.3.{module}.in.0", names)
        self.assertEqual(capture.wanted("model.layers.1.self_attn.q_a_norm"), (True, False))
        self.assertEqual(capture.wanted("model.hc_head"), (True, True))
        self.assertEqual(capture.wanted("model.layers.1.mlp.experts"), (False, False))
        for module in capture.OUTPUTS:
            prefix = f"model.layers.1.{module}.out"
            self.assertTrue(any(n == prefix or n.startswith(prefix + ".") for n in names), prefix)

    def test_token_axis_agrees_with_the_committed_trace(self):
        for name, info in header(TRACE).items():
            if not name.startswith("model.layers."):
                continue
            # 24 of 391 positions were kept; compressed rows (97, 12) were not cut.
            full = [391 if n == 24 else n for n in info["shape"]]
            axis = capture.token_axis(full, 391)
            if axis is None:
                self.assertNotIn(24, info["shape"], name)
            else:
                self.assertEqual(info["shape"][axis], 24, name)

    def test_the_file_is_safetensors_and_wrong_sizes_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            tensors = [capture.int32s("prompt", [3, 4]), ("a.out", "F32", [1, 2], struct.pack("<2f", 1, -2))]
            capture.write_safetensors(path, tensors, {"length": "2", "kept_last_positions": "0"})
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
                raw = f.read()
            size = struct.unpack("<Q", raw[:8])[0]
            self.assertEqual(size % 8, 0)
            h = json.loads(raw[8:8 + size])
            self.assertEqual(h["a.out"], {"dtype": "F32", "shape": [1, 2], "data_offsets": [8, 16]})
            self.assertEqual(struct.unpack("<2f", raw[8 + size + 8:]), (1, -2))
            with self.assertRaises(ValueError):
                capture.write_safetensors(path, [("b", "F32", [3], b"1234")], {})
            self.assertEqual(os.listdir(folder), ["x.safetensors"])

    def test_tuples_are_numbered_and_what_is_no_tensor_is_left_out(self):
        pairs = list(capture.flatten("m.out", (1, None, 2), lambda v: isinstance(v, int)))
        self.assertEqual(pairs, [("m.out.0", 1), ("m.out.2", 2)])


if __name__ == "__main__":
    unittest.main()
