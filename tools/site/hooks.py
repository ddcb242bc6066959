"""Extensions of MkDocs for mkdocs.yml: the README as the first page, and links into the sources.

A link that leaves docs/ must name something that is there, or the build fails; the site has no
sources, so that its text stays and the path becomes its title.
"""

import html
import os
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.M | re.S)


def slug(heading, separator):
    """Makes heading anchors as on sites that show single files, so that links work in both."""
    kept = re.sub(r"[^\w\- ]", "", html.unescape(heading).lower())
    return kept.strip().replace(" ", separator)


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files, config):
    files.append(File.generated(config, "index.md", content=(ROOT / "README.md").read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    is_readme = page.file.src_uri == "index.md"
    source = ROOT / "README.md" if is_readme else Path(config.docs_dir) / page.file.src_uri
    parts = CODE.split(markdown)
    # Searches for links outside of code; a link whose text is code spans several parts.
    places = {f"\0{i}\0": part for i, part in enumerate(parts) if i % 2}
    text = "".join(f"\0{i}\0" if i % 2 else part for i, part in enumerate(parts))
    text = LINK.sub(lambda match: relinked(match, source, Path(config.docs_dir)), text)
    return re.sub("\0\\d+\0", lambda match: places[match.group()], text)


def relinked(match, source, docs):
    text, target = match.groups()
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return match.group()
    there = Path(os.path.normpath(source.parent / path))
    if not there.exists():
        raise PluginError(f"{source.relative_to(ROOT)}: the link '{target}' leads nowhere")
    if there.is_relative_to(docs) and there.is_file():
        return f"[{text}]({there.relative_to(docs) if source.name == 'README.md' and source.parent == ROOT else path}{'#' + anchor if anchor else ''})"
    title = html.escape(str(there.relative_to(ROOT)), quote=True)
    return f'<span title="{title}">{text}</span>'
