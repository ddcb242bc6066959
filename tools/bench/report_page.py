"""Measures how long a report takes to open, or takes pictures of a report, with headless Chromium.

    report_page.py speed PROGRAMS [CANDIDATES]
    report_page.py pictures REPORT.html FOLDER

The command speed opens a report of a made-up run; CANDIDATES is the number of its candidates
(default: 10000), and PROGRAMS the folder of evo-tune's programs. The command pictures writes
report-400.png and report-1600.png to FOLDER. Both commands need Debian's packages chromium,
chromium-driver and python3-selenium.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, use_python_with_selenium

use_python_with_selenium()

OPENINGS = 5


def timed(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def opening(page):
    """Opens the report in a new browser. Returns the seconds until the page is loaded, and the
    further seconds until all plots are drawn."""
    with Browser() as browser:
        browser.driver.get("about:blank")  # waits until the browser itself responds
        opened = timed(lambda: (browser.open(page), browser.settle()))

        def draw_all():
            browser.run("for (const chart of report.charts) chart.draw();")
            browser.settle()

        drawn = timed(draw_all)
        if browser.console():
            sys.exit(f"{page}: {browser.console()}")
        return opened, drawn


def speed(programs, candidates="10000"):
    with tempfile.TemporaryDirectory() as folder:
        db, page = Path(folder) / "evo.db", Path(folder) / "report.html"
        subprocess.run([Path(programs) / "report-database", "--db", db, "--candidates", candidates],
                       check=True, stdout=subprocess.DEVNULL)
        written = timed(lambda: subprocess.run(
            [Path(programs) / "evo-report", "--db", db, "--out", page], check=True,
            stdout=subprocess.DEVNULL))
        times = sorted(opening(page) for _ in range(OPENINGS))
        opened = times[OPENINGS // 2][0]
        drawn = sorted(drawn for _, drawn in times)[OPENINGS // 2]
        print(f"{candidates} candidates: written in {written:.2f} s, {page.stat().st_size / 1e6:.1f} MB; "
              f"opened in {opened:.2f} s (median of {OPENINGS}), every plot drawn {drawn:.2f} s later")


def pictures(page, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        browser.open(page)
        for width in (400, 1600):
            file = Path(folder) / f"report-{width}.png"
            browser.picture(file, width)
            print(file)


if len(sys.argv) < 3 or sys.argv[1] not in ("speed", "pictures"):
    sys.exit(__doc__)
{"speed": speed, "pictures": pictures}[sys.argv[1]](*sys.argv[2:])
