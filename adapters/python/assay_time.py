"""Times of kernels: compilation and warm-up outside the clock, the L2 cache overwritten before every repetition.

measure() is what a worker answers where a call asks for times. The device is an object, so that the rules are tested
without one.
"""
import time

FLUSH_BYTES = 256 << 20  # several times the L2 cache
LEAST = 20  # repetitions


class Cuda:
    """One CUDA device by torch events."""

    def __init__(self, torch, device):
        self.torch, self.device = torch, device
        self.dirt = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=device)

    def wait(self):
        self.torch.cuda.synchronize(self.device)

    def captured(self, launches):
        """The launches as one graph, or None where they cannot be captured."""
        torch = self.torch
        try:
            side = torch.cuda.Stream(self.device)
            side.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(side):
                for launch in launches:
                    launch()
            torch.cuda.current_stream(self.device).wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for launch in launches:
                    launch()
            self.wait()
            return graph.replay
        except RuntimeError:
            torch.cuda.synchronize(self.device)
            return None

    def sample(self, run):
        """Microseconds of one run. The device is kept busy while the host queues it, so that no gap is timed."""
        torch = self.torch
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.dirt.zero_()
        torch.cuda._sleep(400_000)
        start.record()
        run()
        end.record()
        self.wait()
        return start.elapsed_time(end) * 1e3

    def ceilings(self):
        """What this device reaches: copy in GB/s, bf16 and e4m3 products in TFLOP/s."""
        torch, n = self.torch, 8192
        a, b = (torch.empty(1 << 30, dtype=torch.int8, device=self.device) for _ in range(2))
        copy = 2 * (1 << 30) / self.best(lambda: b.copy_(a)) / 1e3
        del a, b
        x, w = (torch.randn(n, n, device=self.device, dtype=torch.bfloat16) for _ in range(2))
        bf16 = 2 * n**3 / self.best(lambda: x @ w.t()) / 1e6
        fp8 = 0.0
        try:
            x, w, one = x.to(torch.float8_e4m3fn), w.to(torch.float8_e4m3fn), torch.ones((), device=self.device)
            fp8 = 2 * n**3 / self.best(lambda: torch._scaled_mm(x, w.t(), one, one, out_dtype=torch.bfloat16)) / 1e6
        except RuntimeError:
            pass  # this device or torch has no e4m3 product
        return {"copy_gbs": copy, "bf16_tflops": bf16, "fp8_tflops": fp8}

    def best(self, run):
        run()
        return sorted(self.sample(run) for _ in range(10))[5]


_CEILINGS = {}


def measure(device, launches, first, repeats, marked=True):
    """The times of the launches of one call: see kernels_test/protocol. first is the seconds of their first run."""
    for launch in launches:
        launch()
    device.wait()
    run = device.captured(launches)
    how = "graph" if run else "events"
    if not run:

        def run():
            for launch in launches:
                launch()

    for _ in range(3):
        device.sample(run)
    samples = [device.sample(run) for _ in range(max(repeats, LEAST))]
    if "it" not in _CEILINGS:
        _CEILINGS["it"] = device.ceilings()
    return {"samples_us": samples, "first_s": first, "how": how, "launches": len(launches) if marked else 0, "ceilings": _CEILINGS["it"]}


class Clock:
    """Runs marked launches and keeps them for measuring."""

    def __init__(self, wait):
        self.wait, self.launches, self.first = wait, [], 0.0

    def run(self, function, args, kwargs):
        self.wait()
        start = time.perf_counter()
        out = function(*args, **kwargs)
        self.wait()
        self.first += time.perf_counter() - start
        self.launches.append(lambda: function(*args, **kwargs))
        return out
