"""Opens reports in headless Chromium and compares their content with the database.

    browser_test.py PROGRAMS SOURCES [TEST]    # folders of the programs and of the project
"""

import sys
import unittest

from report_case import close_all
from filters_test import FiltersTest  # noqa: F401
from page_test import PageTest  # noqa: F401
from recorded_test import RecordedTest  # noqa: F401
from sections_test import SectionsTest  # noqa: F401
from sentences_test import SentencesTest  # noqa: F401

try:
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
finally:
    close_all()
