"""Hooks of MkDocs: add generated pages to the site, and replace links to source files.

- README.md, CONTRIBUTING.md and CHANGELOG.md are pages of the site.
- Pages of options come from the programs' --help, pages of results from docs/results
  (results.py).
- A relative link must name a file that exists, or the build fails. The site does not
  contain source files, so a link to a source file becomes plain text, with the path as title.

The environment variable EVO_PROGRAMS names the folder of the built programs.
"""

import html
import os
import re
import sys
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import options  # noqa: E402
import results  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md",
         "CHANGELOG.md": "changelog.md"}
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.M | re.S)


def slug(heading, separator):
    """Makes the same anchors as GitHub, so that links to headings work on GitHub and on the
    site."""
    kept = re.sub(r"[^\w\- ]", "", html.unescape(heading).lower())
    return kept.strip().replace(" ", separator)


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files, config):
    def add(name, content):
        files.append(File.generated(config, name, content=content))

    for source, page in PAGES.items():
        add(page, (ROOT / source).read_text(encoding="utf-8"))
    programs = Path(os.environ["EVO_PROGRAMS"])
    for name in options.PROGRAMS:
        add(f"options/{name}.md", options.page(programs, name))
    for file in sorted((Path(config.docs_dir) / "results").glob("*.json")):
        add(f"results/{file.stem}.md", results.page(file))
    add("assets/iframe-worker.js", (Path(__file__).parent / "file_worker.js").read_text())
    return files


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    source = ROOT / SOURCES[uri] if uri in SOURCES else Path(config.docs_dir) / uri
    parts = CODE.split(markdown)
    # Replaces code by placeholders, so that links inside code stay as they are.
    places = {f"\0{i}\0": part for i, part in enumerate(parts) if i % 2}
    text = "".join(f"\0{i}\0" if i % 2 else part for i, part in enumerate(parts))
    text = LINK.sub(lambda match: relinked(match, source, uri, Path(config.docs_dir)), text)
    text = re.sub("\0\\d+\0", lambda match: places[match.group()], text)
    text = re.sub(r"^```(\w+) ([^\s=]+)$", r'```\1 title="\2"', text, flags=re.M)  # file names
    return re.sub(r"(!\[[^\]]*\]\()docs/", r"\1", text) if uri in SOURCES else text


def relinked(match, source, uri, docs):
    text, target = match.groups()
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return match.group()
    there = Path(os.path.normpath(source.parent / path))
    if not there.exists():
        raise PluginError(f"{source.relative_to(ROOT)}: the link '{target}' leads nowhere")
    page = page_of(there, docs)
    if page is None:
        title = html.escape(str(there.relative_to(ROOT)), quote=True)
        return f'<span title="{title}">{text}</span>'
    link = os.path.relpath(page, Path(uri).parent)
    return f"[{text}]({link}{'#' + anchor if anchor else ''})"


def page_of(there, docs):
    """The page of the site that shows the file `there`; None if the site does not show the file."""
    if there.parent == ROOT and there.name in PAGES:
        return PAGES[there.name]
    if not there.is_relative_to(docs) or not there.is_file():
        return None
    inside = there.relative_to(docs)
    return inside.with_suffix(".md") if inside.parent.name == "results" else inside
