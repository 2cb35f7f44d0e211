"""Tests of assay_layout.py and assay_time.py, without torch: python3 -m unittest discover adapters/python (needs numpy)"""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
except ImportError as e:
    raise unittest.SkipTest(str(e))
import assay_layout as layout  # noqa: E402
import assay_time  # noqa: E402
import assay_worker  # noqa: E402


class Call:
    def __init__(self, inputs, **attrs):
        self.inputs, self.attrs = inputs, attrs


class Layout(unittest.TestCase):
    def test_padding_keeps_what_is_there(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(layout.pad(x, 1, 5, -1), [[0, 1, 2, -1, -1], [3, 4, 5, -1, -1]])
        np.testing.assert_array_equal(layout.pad(x, 0, 3), [[0, 1, 2], [3, 4, 5], [0, 0, 0]])
        self.assertTrue(layout.pad(x.T, 0, 3).flags.c_contiguous)
        self.assertEqual([layout.up(n, 128) for n in (0, 1, 128, 129)], [0, 128, 128, 256])

    def test_slots_follow_the_page_table(self):
        table = np.int32([[7, 2], [5, 99], [99, 99]])  # 99 must not be looked up
        indptr, slots = layout.token_slots(table, np.int32([5, 3, 0]), 4)
        self.assertEqual(indptr.tolist(), [0, 5, 8, 8])
        self.assertEqual(slots.tolist(), [28, 29, 30, 31, 8, 20, 21, 22])
        self.assertEqual(layout.token_slots(table[:0], np.zeros(0, np.int32), 4)[1].tolist(), [])

    def test_keys_survive_another_page_size(self):
        d, old, new = 2, 2, 4
        pages = np.full((4, old * (d + 4)), 255, np.uint8)
        table, lens = np.int32([[3, 1, 0], [2, 9, 9]]), np.int32([5, 1])

        def token(p, page, j, dims):  # codes and scale bytes of token j
            return p[page, j * dims: j * dims + d], p[page, old * d + 4 * j: old * d + 4 * j + 4]

        for b, n in enumerate(lens):
            for j in range(n):
                codes, scale = token(pages, table[b, j // old], j % old, d)
                codes[:], scale[:] = 10 * b + j, 100 + 10 * b + j
        pool, at = layout.repage(pages, table, lens, old, d, new, 3)
        for b, n in enumerate(lens):
            for j in range(n):
                page, i = pool[at[b, j // new]], j % new
                self.assertEqual(page[i * 3: i * 3 + 3].tolist(), [10 * b + j, 10 * b + j, 0])
                self.assertEqual(page[new * 3 + 4 * i: new * 3 + 4 * i + 4].tolist(), [100 + 10 * b + j] * 4)
        self.assertEqual(pool[0].tolist(), [0] * len(pool[0]))

    def test_tables_by_base_frequency_and_cache_agree(self):
        x, pos = np.zeros((3, 1, 8), np.float32), np.int32([0, 3, 123457])
        inv = (160000.0 ** -(np.arange(0, 8, 2) / 8)).astype(np.float32)
        by_base = layout.cos_sin(Call({"positions": pos}, rotary_dim=8, rope_theta=160000.0, angle="fp32"), x)
        by_inv = layout.cos_sin(Call({"positions": pos, "inv_freq": inv}, rotary_dim=8, angle="fp32"), x)
        cache = np.random.default_rng(1).standard_normal((123458, 8)).astype(np.float32)
        by_cache = layout.cos_sin(Call({"positions": pos, "cos_sin_cache": cache}, rotary_dim=8), x)
        for a, b in zip(by_base, by_inv):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(by_cache[1], cache[pos, 4:])
        exact = layout.cos_sin(Call({"positions": pos}, rotary_dim=8, rope_theta=160000.0, angle="float64"), x)
        np.testing.assert_array_equal(exact[0], np.cos(pos[:, None] * 160000.0 ** -(np.arange(4) / 4)).astype(np.float32))
        self.assertFalse(np.array_equal(exact[0], by_base[0]))  # fp32 angles are another table

    def test_bases(self):
        lse = np.float64([0, 1, -np.inf])
        np.testing.assert_allclose(layout.in_base(lse, "e", "2"), lse / np.log(2), rtol=1e-15)
        np.testing.assert_allclose(layout.in_base(layout.in_base(lse, "e", "2"), "2", "e"), lse, rtol=1e-15)
        self.assertIs(layout.in_base(lse, "2", "2"), lse)

    def test_scale_of_latent_attention(self):
        self.assertAlmostEqual(layout.mla_scale({"rope_factor": 1, "mscale": 1, "qk_nope_head_dim": 128}, 64), 192**-0.5, 15)
        # V3.2: factor 40, m = 0.1 ln 40 + 1
        self.assertAlmostEqual(layout.mla_scale({"rope_factor": 40, "mscale": 1, "qk_nope_head_dim": 128}, 64) / 192**-0.5, (0.1 * np.log(40) + 1) ** 2, 12)


class Device:
    """A device whose launches take given microseconds."""

    def __init__(self, times, graph=True):
        self.times, self.graph, self.samples, self.ran = iter(times), graph, 0, 0

    def wait(self):
        pass

    def captured(self, launches):
        return (lambda: [launch() for launch in launches]) if self.graph else None

    def sample(self, run):
        run()
        self.samples += 1
        return next(self.times)

    def ceilings(self):
        return {"copy_gbs": 4000.0, "bf16_tflops": 700.0, "fp8_tflops": 1400.0}


class Times(unittest.TestCase):
    def test_warm_up_is_outside_the_clock(self):
        device = Device([900.0] * 3 + [5.0] * 30)
        got = assay_time.measure(device, [lambda: None], 2.5, 30)
        self.assertEqual((got["samples_us"], got["first_s"], got["how"], got["launches"]), ([5.0] * 30, 2.5, "graph", 1))
        self.assertEqual(got["ceilings"]["copy_gbs"], 4000.0)

    def test_at_least_twenty_repetitions_and_events_where_no_graph_can_be_captured(self):
        got = assay_time.measure(Device([1.0] * 23, graph=False), [lambda: None, lambda: None], 0.1, 3)
        self.assertEqual((len(got["samples_us"]), got["how"], got["launches"]), (20, "events", 2))

    def test_what_is_not_marked_is_said_to_be_the_whole_function(self):
        self.assertEqual(assay_time.measure(Device([1.0] * 23), [lambda: None], 0.1, 20, marked=False)["launches"], 0)

    def test_only_marked_launches_are_kept(self):
        clock, seen = assay_time.Clock(lambda: None), []
        self.assertEqual(clock.run(lambda a, b: seen.append(a) or b, (1,), {"b": 2}), 2)
        clock.launches[0]()
        self.assertEqual(seen, [1, 1])
        self.assertGreaterEqual(clock.first, 0)

    def test_numpy_has_no_clock_of_a_device(self):
        self.assertIsNone(assay_worker._Numpy().timer())


if __name__ == "__main__":
    unittest.main()
