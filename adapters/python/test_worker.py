"""Tests of assay_worker.py and the reference operators: python3 -m unittest discover adapters/python (needs numpy)"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
except ImportError as e:  # capture.py's tests run without it
    raise unittest.SkipTest(str(e))
import assay_worker as worker  # noqa: E402
import reference  # noqa: E402, F401
import reference_compressor as compressor  # noqa: E402
import reference_dense as dense  # noqa: E402
import reference_gemm as gemm  # noqa: E402
import reference_indexer as indexer  # noqa: E402
import reference_mhc as mhc  # noqa: E402
import reference_norm as norm  # noqa: E402
import reference_numbers as numbers  # noqa: E402
import reference_route as route  # noqa: E402
import reference_sparse as sparse  # noqa: E402
import reference_topk as topk  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


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

    def test_float64_becomes_bf16_in_one_step(self):
        step = 2.0**-7  # of bf16 from 1 on
        middle = 1 + step / 2
        values = np.float64([middle, middle + 1e-12, middle - 1e-12, -middle - 1e-12, 1e39, np.inf, 0, 1e-42, -0.0])
        want = [1, 1 + step, 1, -1 - step, np.inf, np.inf, 0, 0, -0.0]
        got = numbers.bf16(values)
        np.testing.assert_array_equal(got, np.float32(want))
        self.assertTrue(np.signbit(got[-1]))
        self.assertTrue(np.isnan(numbers.bf16(np.float64([np.nan]))[0]))
        # By way of fp32 the second one would be a tie.
        self.assertEqual(worker.decode("BF16", worker.encode("BF16", values[1:2]))[0], 1)

    def test_e2m1_has_ties_to_even_codes_and_saturates(self):
        middles = np.float64([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 100])
        self.assertEqual(numbers.e2m1(middles).tolist(), [0, 2, 2, 4, 4, 6, 6, 7])
        self.assertEqual(numbers.e2m1(-middles).tolist(), [8, 10, 10, 12, 12, 14, 14, 15])
        self.assertEqual(numbers.e2m1(np.nextafter(middles, 9)).tolist(), [1, 2, 3, 4, 5, 6, 7, 7])
        self.assertEqual(numbers.e2m1(np.float64([-0.0])).tolist(), [0])
        codes = np.arange(16, dtype=np.uint8)
        np.testing.assert_array_equal(numbers.unpack_e2m1(numbers.pack_e2m1(codes)), numbers.e2m1_value(codes))
        self.assertEqual(numbers.pack_e2m1(np.uint8([1, 2])).tolist(), [0x21])

    def test_powers_of_two(self):
        scale, e = numbers.power_of_two_above(np.float64([1, 1.0000001, 0.75, 3e-39]))
        self.assertEqual((scale[:3].tolist(), e.tolist()), ([1, 2, 1], [0, 1, 0, -127]))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            tensors = {"a": ("U8", (3,), b"abc"), "scalar": ("F32", (), b"\0\0\x80\x3f"), "empty": ("F32", (0, 2), b"")}
            worker.write_safetensors(path, tensors)
            self.assertEqual(worker.read_safetensors(path), tensors)
            self.assertEqual(os.listdir(folder), ["x.safetensors"])


class Every(unittest.TestCase):
    def test_every_operator_of_the_table_has_a_reference_with_its_parameters(self):
        with open(os.path.join(HERE, "..", "README.md"), encoding="utf-8") as f:
            table = f.read().partition("<!-- operators:")[2].partition("<!-- end of operators -->")[0]
        documented = {}
        for part in table.split("#### ")[1:]:
            name = re.match(r"`(\w+)`", part)[1]
            documented[name] = set(re.findall(r"^\| (?:operand|output|attribute) \| `(\w+)`", part, re.M))
        self.assertGreaterEqual(len(documented), 8)
        self.assertLessEqual(set(documented), set(worker._OPS))
        for name, words in documented.items():
            parameters = set(worker.inspect.signature(worker._OPS[name]["function"]).parameters) - {"call"}
            self.assertLessEqual(parameters, words, name)

    def test_every_module_is_a_worker_of_its_own(self):
        hello = '{"op":"hello","protocol":1}\n'
        whole = set()
        for module in ("mhc", "indexer", "topk", "sparse", "dense", "gemm", "route", "norm", "compressor"):
            line = [sys.executable, os.path.join(HERE, f"reference_{module}.py")]
            said = subprocess.run(line, input=hello, capture_output=True, text=True, check=True).stdout
            ops = set(worker.json.loads(said)["ops"])
            self.assertFalse(whole & ops, module)
            whole |= ops
        self.assertEqual(whole, set(worker._OPS))


class Call:
    """What an operator sees of a call, without files."""

    def __init__(self, outputs, inputs=None, attrs=None, case=""):
        self.outputs, self.inputs, self.attrs, self.case = outputs, inputs or {}, attrs or {}, case
        self.output_dtypes, self.dtypes = {n: "F32" for n in outputs}, {n: "F32" for n in self.inputs}


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

    def test_indexer_by_hand(self):
        out = np.full((1, 3), 7.0)
        q, k = np.float32([[[1, 0], [0, 1]]]), np.float32([[2, 3], [-1, 4], [5, 5]])
        indexer.indexer_logits(Call({"logits": out}), q, k, np.float32([[1, -2]]), np.int32([0]), np.int32([2]), clean_logits=True)
        self.assertEqual(out.tolist(), [[2 - 6, 0 - 8, -np.inf]])
        np.testing.assert_array_equal(indexer.sylvester(2) * np.sqrt(2), [[1, 1], [1, -1]])

    def test_selection_settles_ties(self):
        scores = np.float32([1, 3, 2, 3, -np.inf])
        self.assertEqual(topk.best(scores, 1, "lowest-index").tolist(), [1])
        self.assertEqual(topk.best(scores, 1, "highest-index").tolist(), [3])
        self.assertEqual(topk.best(np.float32([0, -0.0, 0]), 2, "highest-index").tolist(), [2, 1])
        self.assertEqual(topk.best(np.float32([np.nan, 1]), 2, "any").tolist(), [0, 1])

    def test_published_merge_of_states(self):
        # Z = (2, 8), o = (0, 1) merges to 0.8 (docs/sources.md); an empty state weighs nothing and its o is not read.
        lse, o = np.log([[[2.0]], [[8.0]]]), np.float64([[[[0]]], [[[1]]]])
        for empty in (False, True):
            if empty:
                lse, o = np.concatenate([lse, [[[-np.inf]]]]), np.concatenate([o, [[[[np.nan]]]]])
            out = {"merged_o": np.zeros((1, 1, 1)), "merged_lse": np.zeros((1, 1))}
            sparse.merge_states(Call(out), o, lse)
            np.testing.assert_allclose([out["merged_o"].item(), out["merged_lse"].item()], [0.8, np.log(10)], rtol=1e-15)

    def test_attention_with_a_sink_and_without_keys(self):
        o, lse, top = numbers.attend(np.float64([[np.log(3)]]), np.float64([[2.0]]), np.float32([0]))
        np.testing.assert_allclose([o.item(), lse.item(), top.item()], [1.5, np.log(3), np.log(3)], rtol=1e-15)
        o, lse, _ = numbers.attend(np.zeros((1, 0)), np.zeros((0, 1)), np.float32([0]))
        self.assertEqual((o.item(), lse.item()), (0, -np.inf))

    def test_windows(self):
        self.assertEqual([dense.seen(p, 6, True, 2) for p in range(6)], [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)])
        self.assertEqual(dense.seen(3, 6, False, 1, 1), (2, 5))
        self.assertEqual(dense.seen(-2, 6, True), (0, 0))

    def test_scales_in_tiles(self):
        where, size = gemm.tile_bytes(130, 5)
        self.assertEqual((where[0, 0], where[1, 0], where[32, 0], where[0, 1], where[0, 4], where[128, 0], size), (0, 16, 4, 1, 512, 1024, 2048))
        self.assertEqual(len(np.unique(where)), where.size)

    def test_published_scores_of_experts(self):
        # docs/sources.md, Expert scores
        got = route.scores(np.float32([0, -20, 20, -16.64]), "sqrtsoftplus")
        np.testing.assert_allclose(got, [0.8325546112, 4.53999e-5, 4.4721359550, 2.436e-4], rtol=1e-4)
        np.testing.assert_allclose(got[[0, 2]], [0.8325546112, 4.4721359550], rtol=2e-10)

    def test_published_frequencies_of_yarn(self):
        # docs/sources.md, V4: base 160000, factor 16, original 65536; 64 rotated channels. The angle of position 1 is the frequency.
        out = np.zeros((1, 64))
        norm.rope_table(Call({"cos_sin": out}), np.int32([1]), 160000, 64, 16, 65536, 32, 1)
        got = np.arctan2(out[0, 32:], out[0, :32])[[16, 20, 25, 31]]
        np.testing.assert_allclose(got, [2.265625e-3, 2.96977778e-4, 5.37231267e-6, 5.68052904e-7], rtol=1e-8)

    def test_a_block_pools_by_its_gates(self):
        half = np.float64([[1, 10], [3, 30]]), np.log(np.float64([[1, 1], [3, 1]]))
        np.testing.assert_allclose(compressor.block(None, half, False, 2), [2.5, 20], rtol=1e-15)
        np.testing.assert_allclose(compressor.block(None, half, True, 1), [20], rtol=1e-15)  # the second half of the channels
        np.testing.assert_allclose(compressor.block(half, half, True, 1), [(1 + 9 + 10 + 30) / 6], rtol=1e-15)


if __name__ == "__main__":
    unittest.main()
