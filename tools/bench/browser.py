"""A headless Chromium whose console messages and requested URLs a script can read.

Needs Debian's packages chromium, chromium-driver and python3-selenium.
"""

import base64
import json
import os
import shutil
import sys
import time
from pathlib import Path

SKIPPED = 77  # the exit code by which ctest recognises a skipped test


def skip(why):
    print(f"skipped: {why}; Debian: apt-get install chromium chromium-driver python3-selenium")
    sys.exit(SKIPPED)


def use_python_with_selenium():
    """If this Python lacks Selenium, restarts the script with /usr/bin/python3, for which Debian
    packages Selenium."""
    try:
        import selenium  # noqa: F401
        return
    except ImportError:
        pass
    debian = "/usr/bin/python3"
    if os.environ.get("EVO_BROWSER_PYTHON") == debian or not Path(debian).exists():
        skip("there is no Python with Selenium")
    os.environ["EVO_BROWSER_PYTHON"] = debian
    os.execv(debian, [debian, *sys.argv])


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return skip("there is no Chromium")


class Browser:
    """A window of a headless Chromium. A with statement closes the window at its end."""

    def __init__(self, width=1600, height=1000):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        options = Options()
        options.binary_location = find_chromium()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--disable-dev-shm-usage", "--no-first-run"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        if not shutil.which("chromedriver"):
            skip("there is no chromedriver")
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(60)
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def resize(self, width, height=1000):
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def colours(self, scheme):
        """Sets the colour scheme that pages are asked to use: "light" or "dark"."""
        self.command("Emulation.setEmulatedMedia",
                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def command(self, name, arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def open(self, page):
        self.driver.get(Path(page).resolve().as_uri())

    def run(self, script, *arguments):
        """Runs a JavaScript function's body and returns its value."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments):
        """Waits until a JavaScript function with the body `script` returns true. Raises
        TimeoutError after 20 s."""
        end = time.monotonic() + 20
        while not self.run(script, *arguments):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.02)

    def settle(self):
        """Waits for two frames and 60 ms, so that the browser can draw all changes of the page."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)));")

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The URLs that the browser requested since the last call, except the page itself, data:
        and blob: URLs."""
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        pages = {self.driver.current_url.split("#")[0]}
        return [url for url in asked
                if url.split("#")[0] not in pages and not url.startswith(("data:", "blob:"))]

    def picture(self, file, width, scheme="light", most=None):
        """Writes a PNG of the whole page, or of its first `most` rows of pixels."""
        self.colours(scheme)
        self.resize(width)
        self.settle()
        for _ in range(2):  # twice, because plots are drawn only near the visible part
            height = self.run("return document.documentElement.scrollHeight")
            self.resize(width, height)
            self.settle()
        height = min(height, most or height)
        shot = self.command("Page.captureScreenshot", {
            "format": "png", "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        Path(file).write_bytes(base64.b64decode(shot["data"]))
