"""Times contenders (kernels and library calls) in turn, each by a CUDA graph of its calls."""

import math

GRAPH_US = 400.0  # target time of one graph, so that the events around it are negligible
LONG_SAMPLE_US = 3000.0  # contenders with samples of twice this time or more skip turns
LEAST_SAMPLES = 9  # a contender that skips turns still gets this many samples


class Contender:
    """A kernel or library function, with one call per input set, and its samples in microseconds
    per launch, by turn. A call returns its output; `descale` is the factor from this output to the
    result of attention."""

    def __init__(self, name, start, calls, library="", descale=1.0):
        self.name, self.start, self.calls = name, start, calls
        self.library, self.descale = library, descale
        self.graph, self.launches, self.samples, self.why_not = None, 0, {}, ""
        self.every = 1  # turns from one of its samples to the next
        # True for the contender with whose samples row_of() compares those of the others.
        self.in_every_turn = False
        self.relative_l2 = None

    def capture(self, torch):
        """Captures a graph that calls all input sets in turn, 1 to 50 times, to take about
        GRAPH_US."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for call in self.calls * 3:
                call()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for call in self.calls:
                call()
            end.record()
        end.synchronize()
        # An upper bound of the GPU's time, because it includes the CPU's overhead. The factor 4
        # below allows for this overhead.
        per_round = begin.elapsed_time(end) * 1000
        rounds = max(1, min(50, round(GRAPH_US / per_round * 4)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(rounds):
                for call in self.calls:
                    call()
        self.graph, self.launches = graph, rounds * len(self.calls)

    def sample(self, torch):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000 / self.launches


def quantile(values, share):
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def median_interval(values):
    """95 % confidence interval of the median by order statistics (normal approximation of the
    binomial: ranks n/2 -+ 1.96 sqrt(n)/2)."""
    ordered, count = sorted(values), len(values)
    reach = 1.96 * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return ordered[low], ordered[high]


def first_line(error):
    return (str(error) or type(error).__name__).splitlines()[0]


def capture_all(torch, contenders, relative_l2):
    """Captures a graph of each contender that supports the shape, and computes the error of its
    output on the first input set by `relative_l2`."""
    for contender in contenders:
        if contender.why_not:
            continue
        try:
            contender.relative_l2 = relative_l2(contender.calls[0]().double() * contender.descale)
            contender.capture(torch)
        except Exception as error:  # "No available kernel" for this shape or type, among others
            contender.graph, contender.why_not = None, first_line(error)
            torch.cuda.synchronize()


def measure(torch, contenders, warmups, samples):
    """Takes samples of the contenders in turn, after `warmups` turns that are not recorded; every
    second turn has the reverse order.

    A contender with long samples skips turns, unless it is `in_every_turn`.
    """
    ready = [contender for contender in contenders if contender.graph is not None]
    for contender in ready:
        if contender.in_every_turn:
            continue
        sample_us = contender.sample(torch) * contender.launches
        contender.every = min(int(sample_us / LONG_SAMPLE_US), max(0, samples // LEAST_SAMPLES - 1))
        contender.every |= 1  # odd, so that the contender is sampled in both orders
    for turn in range(-warmups, samples):
        for contender in ready if turn % 2 == 0 else reversed(ready):
            if turn % contender.every == 0:
                time_us = contender.sample(torch)
                if turn >= 0:
                    contender.samples[turn] = time_us


def row_of(contender, ours):
    row = {"name": contender.name, "start": contender.start, "library": contender.library}
    if contender.graph is None:
        return row | {"not_available": contender.why_not}
    ratios = [time_us / ours.samples[turn] for turn, time_us in contender.samples.items()]
    times = contender.samples.values()
    return row | {
        "p50_us": quantile(times, 0.5), "p90_us": quantile(times, 0.9),
        "p99_us": quantile(times, 0.99), "samples": len(times),
        "launches_per_sample": contender.launches, "ratio": quantile(ratios, 0.5),
        "ratio_interval_95": median_interval(ratios), "relative_l2": contender.relative_l2}
