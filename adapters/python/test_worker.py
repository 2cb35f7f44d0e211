"""Tests of assay_worker.py and reference_mhc.py: python3 -m unittest discover adapters/python (needs numpy)"""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
except ImportError as e:  # capture.py's tests run without it
    raise unittest.SkipTest(str(e))
import assay_worker as worker  # noqa: E402
import reference_mhc as mhc  # noqa: E402


class Formats(unittest.TestCase):
    def test_every_code_survives_decode_and_encode(self):
        for dtype, codes in (("BF16", 1 << 16), ("F8_E4M3", 256), ("F8_E5M2", 256)):
            bits = np.arange(codes).astype(worker.STORED[dtype])
            values = worker.decode(dtype, bits)
            number = ~np.isnan(values)
            np.testing.assert_array_equal(worker.encode(dtype, values)[number], bits[number])
            self.assertTrue(np.all(np.isnan(worker.decode(dtype, worker.encode(dtype, values)[~number]))))

    def test_known_values(self):
        def codes(dtype, *values):
            return [int(c) for c in worker.encode(dtype, np.float32(values))]

        self.assertEqual(codes("F8_E4M3", 1, -1, 448, 464, 465, np.inf, 2.0**-9, 2.0**-10, 1.0625, 1.1875, -0.0), [0x38, 0xB8, 0x7E, 0x7E, 0x7F, 0x7F, 1, 0, 0x38, 0x3A, 0x80])
        self.assertEqual(codes("F8_E5M2", 1, 57344, 61439, 61440, np.inf, 2.0**-16), [0x3C, 0x7B, 0x7B, 0x7C, 0x7C, 1])
        self.assertEqual(codes("BF16", 1, 1 + 2.0**-8, 1 + 3 * 2.0**-8, np.inf, 3.4e38), [0x3F80, 0x3F80, 0x3F82, 0x7F80, 0x7F80])
        self.assertEqual(list(worker.decode("F8_E8M0", np.uint8([0, 127, 130]))), [2.0**-127, 1, 8])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            tensors = {"a": ("U8", (3,), b"abc"), "scalar": ("F32", (), b"\0\0\x80\x3f"), "empty": ("F32", (0, 2), b"")}
            worker.write_safetensors(path, tensors)
            self.assertEqual(worker.read_safetensors(path), tensors)
            self.assertEqual(os.listdir(folder), ["x.safetensors"])


class Reference(unittest.TestCase):
    def test_published_values_of_sinkhorn(self):
        flat = mhc.sinkhorn(np.zeros((4, 4)), 20, 1e-6)
        np.testing.assert_array_equal(np.round(flat, 7), np.full((4, 4), 0.2499998))
        got = mhc.sinkhorn(np.float64([[2, 0, 0, 0], [0, 1, 0, -1], [0.5, 0, 0, 0], [0, 0, -2, 3]]), 20, 1e-6)
        want = [
            [0.5855009, 0.1326137, 0.2277417, 0.0541448], [0.1152778, 0.5244266, 0.3313187, 0.0289781],
            [0.2396503, 0.2432637, 0.4177646, 0.0993221], [0.0595700, 0.0996950, 0.0231740, 0.8175539],
        ]
        np.testing.assert_array_equal(np.round(got, 7), want)  # seven digits are published
        self.assertFalse(np.array_equal(np.round(got.T, 7), want))

    def test_a_shift_of_streams_goes_one_way(self):
        comb = np.roll(np.eye(4), 1, axis=1).reshape(1, 4, 4)  # stream j to j+1
        x = np.float64([1, 2, 3, 4]).reshape(1, 4, 1)
        out = np.zeros((1, 4, 1))
        mhc.mhc_post(np.zeros((1, 1)), np.zeros((1, 4)), comb, x, out)
        self.assertEqual(out.ravel().tolist(), [4, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
