#!/usr/bin/env python3
"""Makes the pages of results from stored runs.

    results.py           # writes docs/results/DEVICE.json and the README's table
    results.py --check   # exit code 1 if one of these files differs from the runs

docs/results/runs/DEVICE holds the runs of a page: KIND.VARIANT.txt is the unchanged output of a
program, below the date, machine and command of the run (tools/bench/record_results.sh stores them).
All runs of one kind become one table, or the page shows their outputs unchanged.
"""

import csv
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
FORMAT = "evo-tune results 2"
DEVICES = {  # folder of runs: name, summary, in the order of the site
    "nvidia-h200": ("NVIDIA H200", "Measured on one NVIDIA H200. Programs on a machine without a GPU "
                    "evaluated recordings of an H200 and of an H100 later."),
    "nvidia-h100": ("NVIDIA H100", "Measured on one NVIDIA H100."),
    "no-gpu": ("machines without a GPU", "Measured or counted on processors. Times of kernels are "
               "predicted or simulated."),
}
README_DEVICE = "nvidia-h200"
# The rows of the README's table, and the only column of the results page that this table omits.
README_SIZES = ("2, 8, 32, 64", "2, 8, 512, 64", "2, 8, 2048, 64", "2, 8, 2048, 128",
                "2, 8, 2048, 64, causal")
README_LEAVES_OUT = "PyTorch, FP8 inputs"


class Run:
    """A stored run: the header of its file (date, machine, command) and the output."""

    def __init__(self, file):
        head, _, self.output = file.read_text(encoding="utf-8").partition("\n\n")
        fields = dict(line[2:].split(": ", 1) for line in head.splitlines())
        self.date, self.machine, self.command = (fields[k] for k in ("date", "machine", "command"))
        self.variant = file.stem.partition(".")[2].replace("_", " ")

    def json_lines(self):
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]

    def find(self, pattern):
        match = re.search(pattern, self.output)
        if match is None:
            raise ValueError(f"{self.command}: its output has no '{pattern}'")
        return match.groups()


# Each function below makes a table, (columns, rows), from all runs of one kind.

def last_lines(runs):
    return ["run", "result"], [[run.variant, run.output.strip().splitlines()[-1]] for run in runs]


def searches(runs):
    rows = []
    for run in runs:
        speed = run.json_lines()[-1]
        rows.append([run.variant, f"{speed['evaluated']:.0f}", f"{speed['total_ms'] / 1000:.1f}",
                     f"{speed['variants_per_s']:.1f}"])
    return ["search", "candidates", "seconds", "candidates a second"], rows


def winners(runs):
    rows = []
    for run in runs:
        for kernel in csv.DictReader(run.output.splitlines()):
            if kernel["rank"] == "1":
                rows.append([run.variant, kernel["shape"], f"{float(kernel['p50_us']):.2f}",
                             f"{float(kernel['tflops']):.0f}", kernel["registers"],
                             f"{float(kernel['max_abs_error']):.1g}"])
    return ["search", "shape", "p50, µs", "TFLOP/s", "registers", "largest error"], rows


# Columns of the table "attention": each shows the fastest row that its function selects.
CONTENDERS = {
    "P in f16": lambda row: row["name"] == "evo-tune" and row["p"] == "f16",
    "P in e4m3": lambda row: row["name"] == "evo-tune" and row["p"] == "fp8",
    "PyTorch, fp16 inputs": lambda row: row["library"].startswith("PyTorch") and row["start"] == "fp16",
    "PyTorch, FP8 inputs": lambda row: row["library"].startswith("PyTorch") and row["start"] == "fp8",
    "cuDNN FP8": lambda row: row["name"] == "cudnn e4m3",
    "FlashAttention-3 FP8": lambda row: row["name"] == "fa3 e4m3",
}


def comparisons(run):
    """Yields (sizes, the fastest row for each column) for each shape, sorted by mask, D and the
    other sizes."""
    rows_of = {}
    for result in json.loads(run.output)["results"]:
        if not result["right"]:
            raise ValueError(f"{run.command}: {result['manifest']} gives wrong results")
        variables = result["shape"]["variables"]
        sizes = tuple(int(variables[name]) for name in ("B", "H", "LQ", "D", "CAUSAL"))
        rows_of.setdefault(sizes, []).extend(
            row | {"p": result["config"].get("PV_MODE", "f16")} for row in result["rows"] if "p50_us" in row)
    for sizes, rows in sorted(rows_of.items(), key=lambda item: (item[0][4], item[0][3], item[0])):
        text = ", ".join(str(size) for size in sizes[:4]) + (", causal" if sizes[4] else "")
        yield text, {name: min(filter(belongs, rows), key=lambda row: row["p50_us"], default=None)
                     for name, belongs in CONTENDERS.items()}


def attention(runs):
    def cell(name, row):
        if row is None:
            return "-"
        told = row["name"] if name.startswith("PyTorch") else f"{row['relative_l2']:.2g}"
        return f"{row['p50_us']:.2f} ({told})"
    rows = [[sizes, *(cell(name, row) for name, row in fastest.items())]
            for sizes, fastest in comparisons(runs[0])]
    return ["B, H, S, D", *CONTENDERS], rows


def operations(runs):
    """The outputs of op-costs for a GPU and its virtual GPU, side by side."""
    figures, section = {}, ""
    for run in runs:
        for line in run.output.splitlines():
            match = re.fullmatch(r" *(\S.*\S) +([\d.]+)( us)?", line)
            if match is None:
                section = line or section  # the line above a list of figures
            elif not re.search("[12]00 KiB", line):
                key = re.sub(" +", " ", match.group(1)), section
                figures.setdefault(key, {})[run.variant] = match.group(2) + (match.group(3) or "")
    rows = [[name, its["measured"], its["predicted"], section]
            for (name, section), its in figures.items() if len(its) == 2]
    return ["operation", "measured", "predicted", "figure"], rows


def energies(runs):
    rows = [[run.variant, *run.find(r"energy +(\S+) mJ a launch, (\d+) W"), *run.find(r"p50 (\S+) µs")]
            for run in runs]
    return ["kernel", "mJ a launch", "W", "p50, µs"], rows


def seeds(runs):
    """The winners of searches that differ only in their seeds, compared by pairs."""
    rows = []
    for run in runs:
        shares = re.findall(r"^(seed \d+|also) .* us +([\d.]+) ", run.output, re.M)
        rows.append([run.variant, ", ".join(share for _, share in shares),
                     f"{min(float(share) for name, share in shares if name != 'also'):.1%}"])
    return ["search", "best time / time of each winner", "worst seed"], rows


def rates(runs):
    """Candidates per second of several tuners on the same kernels."""
    figures = {}
    for run in runs:
        for kernel, rate in re.findall(r"^(\S+?): .*?([\d.]+) candidates/s", run.output, re.M):
            figures.setdefault(kernel, {})[run.variant] = rate
    tuners = [run.variant for run in runs]
    return ["kernel", *tuners], [[kernel, *(its.get(tuner, "-") for tuner in tuners)]
                                 for kernel, its in figures.items()]


def scripts(runs):
    """The Kernel Tuner scripts that ran; a later run of a script replaces an earlier run."""
    rows, tuners = {}, {"evo": "evo-tune", "kt": "Kernel Tuner"}
    for run in runs:
        for tuner, name, seconds, found in re.findall(
                r"^(evo|kt) +(\S+)\.py +ran +0 +([\d.]+) s ?(.*)$", run.output, re.M):
            rows[name, tuner] = [name, tuners[tuner], seconds, found]
    return ["script", "by", "seconds", "correct configurations, seconds, the best one, its ms"], [*rows.values()]


def predictions(runs):
    rows = []
    for run in runs:
        rows.append([run.variant, *run.find(r"kernels +(\d+)"),
                     *run.find(r"Spearman +(\S+) +(\S+)"), *run.find(r"Kendall +(\S+)"),
                     *run.find(r"median error (\S+ %)"),
                     *run.find(r"predicted fastest (\S+ %).*best of the 16 predicted fastest (\S+ %)")])
    return ["recording", "kernels", "Spearman", "within twice the best", "Kendall", "median error",
            "the predicted fastest is slower than the best by", "the best of the 16 predicted fastest by"], rows


def strategies(runs):
    """For each run of evo-replay, optimum / best time after 25 to 400 evaluations and the score P,
    as means over the recorded spaces."""
    rows = [[run.variant, *run.find(r"\nmean" + r" +(-?[\d.]+)" * 6)] for run in runs]
    rows.sort(key=lambda row: float(row[3]), reverse=True)
    return ["run", "after 25", "after 50", "after 100", "after 200", "after 400", "score P"], rows


# For each kind of run: title, origin of the numbers, function that makes the table (or None), note.
KINDS = {
    "attention": ("FP8 attention against PyTorch, cuDNN and FlashAttention-3", "measured", attention,
                  "p50 of a call in CUDA graphs, in µs; all contenders of a shape in turn in one process. "
                  "In parentheses PyTorch's fastest backend, or the relative L2 error. P in f16 and P in "
                  "e4m3 are evo-tune's, with an output in f16; the kernels of a search over several lengths "
                  "are right at all of them. The output of cuDNN FP8 is e4m3, that of "
                  "FlashAttention-3 bf16."),
    "accuracy": ("Time and error of FP8 attention by length", "measured", None,
                 "The fastest kernel of each kind that keeps its tolerance, among those tuned for other "
                 "lengths, in turn in one process. The column scores is the standard deviation of the "
                 "scaled scores."),
    "search": ("Searches of attention", "measured", searches, ""),
    "elite": ("The fastest kernels of these searches", "measured", winners,
              "Searches e4m3 round P to 8 bits. Sizes of the shapes: kernel_templates/sdpa_fp8/problem.json."),
    "ideas": ("Milestones of wgmma attention, with the best found", "measured", None, ""),
    "random": ("Candidates judged a second, random search", "measured", searches, ""),
    "verdicts": ("Verdicts on random candidates of attention", "exact", None,
                 "Each search checks on all shapes of its head size and mask whose sizes are small."),
    "seeds": ("Searches with different seeds", "measured", seeds,
              "20 generations for each of the seeds 1 to 5. The last winner, if there are six, is that of the "
              "search for this shape above."),
    "milestones": ("The milestones of WMMA attention", "measured", None, ""),
    "insight": ("Why the WMMA winner won", "measured", None, ""),
    "bundle": ("A bundle called from PyTorch", "measured", None,
               "An eager or compiled call is bound by the CPU."),
    "rate": ("Plain kernels at real sizes: candidates judged a second", "measured", rates,
             "Random candidates; evo-tune's are in the table above. Kernel Tuner checks each kernel once, keeps no elite and compiles one "
             "kernel after the other. evo-tune compiles on all cores, checks fully before the elite, "
             "and compares by pairs."),
    "comparison": ("Comparisons of two kernels by pairs", "measured", last_lines,
             "\"same\" compares a kernel with itself; \"slower\" with one that does 2 % more work."),
    "operations": ("Single operations", "measured and predicted", operations, ""),
    "energy": ("Energy of a launch", "measured", energies, ""),
    "checks": ("Comparing outputs", "measured", None, ""),
    "call": ("Cost of a call from Python", "measured", None,
             "The processor's time of a call, in µs; for the CUDA graph, the time of one of its launches "
             "until the GPU is done. torch.add and scaled_dot_product_attention have buffers of their own."),
    "scripts": ("Example scripts of Kernel Tuner 1.5.0, unchanged", "measured", scripts,
                "A row has a search for each call of tune_kernel. Without an answer in the script, the "
                "first configuration is the reference, and those of other filter sizes are not correct. "
                "Refused by name: accuracy, convolution_streams, going_green_performance_model, pnpoly, "
                "pnpoly_cupy, vector_add_observers_pmt, vector_add_tegra_observer. With NumPy 2, spmv "
                "overflows and tunes an empty matrix."),
    "predict": ("How well predicted times rank measured ones",
                "predicted, against measured times of the recording", predictions,
                "The recordings of the stencil, softmax and WMMA chose some of the model's figures, and "
                "half of the candidates of the others chose two. There the table shows a fit, not a test."),
    "agreement": ("The virtual GPU against the GPU, output by output", "exact", None, ""),
    "interpreter": ("Speed of the virtual GPU", "measured", None, ""),
    "launch": ("A launch on the virtual GPU", "measured", last_lines, ""),
    "alarms": ("False alarms of the virtual GPU", "exact", None,
               "Random correct candidates; a report would be a false alarm."),
    "strategy": ("Strategies on recorded spaces of others", "simulated", strategies,
                 "Optimum / best time after so many evaluations, mean over the spaces (GEMM, convolution, "
                 "point in polygon and dedispersion on seven GPUs)."),
    "in_flight": ("Strategy full, by candidates in flight", "simulated", strategies, ""),
    "engine": ("Cost of the engine", "measured", None, ""),
    "kills": ("Processes killed at random instants", "exact", None, ""),
    "soak": ("A long run with injected faults", "exact", None, ""),
    "hosts": ("Many hosts", "simulated clock, real engine and database", None, ""),
    "loopback": ("Cost of a worker across the loopback", "measured", None, ""),
}


def joined(values):
    return "; ".join(sorted(set(values)))


def table(kind, files):
    title, figures, maker, note = KINDS[kind]
    runs = [Run(file) for file in files]
    made = {"title": title, "date": joined(run.date for run in runs), "kind": figures,
            "machine": joined(run.machine for run in runs), "commands": [run.command for run in runs]}
    if maker is None:
        made["output"] = "\n".join(run.output.rstrip() for run in runs).splitlines()
    else:
        made["columns"], made["rows"] = maker(runs)
    return made | ({"note": note} if note else {})


def tables(device):
    files = {}
    for file in sorted((RESULTS / "runs" / device).glob("*.txt")):
        files.setdefault(file.name.split(".")[0], []).append(file)
    unknown = set(files) - set(KINDS)
    if unknown:
        raise ValueError(f"docs/results/runs/{device}: unknown kinds {sorted(unknown)}; allowed: {sorted(KINDS)}")
    return [table(kind, files[kind]) for kind in KINDS if kind in files]


def json_text(device):
    """All tables of a device as JSON, with one table row, or one line of output, per line."""
    name, summary = DEVICES[device]
    data = {"format": FORMAT, "device": name, "summary": summary, "tables": tables(device)}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    rows = re.compile(r"\[\n\s+(\"[^\[\]{}]*?)\n\s+\](?=,?\n\s+[\[\]])")
    return rows.sub(lambda row: "[" + re.sub(r",\n\s+", ", ", row.group(1)) + "]", text) + "\n"


def readme_text(text):
    """The text of the README, with new rows in the table of times."""
    file = RESULTS / "runs" / README_DEVICE / "attention.txt"
    if not file.exists():
        return text
    rows = ""
    for sizes, fastest in comparisons(Run(file)):
        if sizes in README_SIZES:
            times = ["-" if row is None else f"{row['p50_us']:.2f}"
                     for name, row in fastest.items() if name != README_LEAVES_OUT]
            rows += row_text([sizes.replace(", ", ","), *times]) + "\n"
    return re.sub(r"(\| B,H,S,D .*\n\|---.*\n)(?:\|.*\n)+", lambda head: head.group(1) + rows, text)


def row_text(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page(file):
    """The page of results of one device, as Markdown."""
    data = json.loads(Path(file).read_text(encoding="utf-8"))
    lines = [f"# Results: {data['device']}", "", data["summary"], "",
             "The commands are those of `tools/bench/record_results.sh`, which sets their variables and "
             "repeats them on another device.", ""]
    for its in data["tables"]:
        lines += [f"## {its['title']}", ""]
        if "output" in its:
            lines += ["```", *its["output"], "```", ""]
        else:
            lines += [row_text(its["columns"]), "|" + "---|" * len(its["columns"]), *map(row_text, its["rows"]), ""]
        lines += [its["note"], ""] if "note" in its else []
        lines += [f"{its['date']}, {its['machine']}; {its['kind']}:", "", "```sh", *its["commands"], "```", ""]
    return "\n".join(lines)


def main():
    wrong = []
    readme = ROOT / "README.md"
    made = {RESULTS / f"{device}.json": json_text(device) for device in DEVICES}
    made[readme] = readme_text(readme.read_text(encoding="utf-8"))
    for file, text in made.items():
        if sys.argv[1:] == ["--check"]:
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                wrong.append(str(file.relative_to(ROOT)))
        else:
            file.write_text(text, encoding="utf-8")
    if wrong:
        print(f"not what docs/results/runs says: {', '.join(wrong)}; run tools/site/results.py", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
