"""The result of a search by tune()."""

import json
import shutil
import weakref
from pathlib import Path

from . import programs
from .bundle import load
from .errors import Error


class Report:
    """An HTML page about a run; a notebook shows it inline."""

    def __init__(self, path):
        self.path = path

    def _repr_html_(self):
        from html import escape
        return (f'<iframe srcdoc="{escape(self.path.read_text(), quote=True)}" width="100%" '
                'height="700"></iframe>')


class Result:
    """The result of tune(). Owns the folder of the run and deletes it when the Result is destroyed.
    Files that bundle() and report() write to other folders stay."""

    def __init__(self, folder, name, interrupted=False):
        self.folder = folder  #: holds problem, space and database (run.db)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.name = name
        self.interrupted = interrupted

    @property
    def elite(self):
        """The fastest correct kernels, best first: dicts with config, p50_us, kind, …"""
        if not (self.folder / "run.db").is_file():
            return []
        told = programs.run("evo-elite", ["--db", "run.db", "--json"], self.folder)
        return [json.loads(line) for line in told.stdout.splitlines()]

    @property
    def best(self):
        """The fastest correct kernel. Raises Error if no configuration is correct."""
        elite = self.elite
        if not elite:
            raise Error("no configuration is correct; evo-elite rejections says why: "
                        + self.rejections())
        return elite[0]

    def rejections(self):
        """A table as text: the number of failed candidates by gate and reason."""
        return programs.run("evo-elite", ["--db", "run.db", "rejections"], self.folder).stdout

    def candidates(self):
        """All candidates that were judged, each a dict of its macros, its time in ms (a text that
        names the failure if the candidate failed) and other results."""
        target = self.folder / "candidates.json"
        target.unlink(missing_ok=True)
        programs.run("evo-export", ["--db", "run.db", "--kernel-tuner-cache", target.name],
                     self.folder)
        return list(json.loads(target.read_text())["cache"].values())

    def to_dataframe(self):
        """The judged candidates as a pandas DataFrame."""
        import pandas
        return pandas.json_normalize(self.candidates())

    def report(self, path=None):
        """Writes an HTML page that explains why the best kernel is fast. Returns a Report."""
        target = Path(path).resolve() if path else self.folder / "report.html"
        programs.run("evo-report", ["--db", "run.db", "--out", target], self.folder)
        return Report(target)

    def bundle(self, path):
        """Writes a bundle to the folder `path`, and returns the path. The bundle has the best
        kernel and, if it was in an elite and not withdrawn, the kernel of the default
        configuration."""
        target = Path(path).resolve()
        programs.run("evo-export", ["--db", "run.db", "--bundle", target], self.folder)
        return target

    def kernel(self, path=None):
        """The best kernel as a function of tensors on the GPU. `path`: the folder for the kernel's
        bundle."""
        return load(self.bundle(path or self.folder / "bundle"))
