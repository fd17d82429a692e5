"""Hooks of MkDocs for the pages of docs/python: project documents that they link to are added to the site, and other
links that leave the folder become the path in a checkout."""

import os
import posixpath
import re

from mkdocs.structure.files import File

# Paths in docs; the pages are placed beside the index.
BESIDE = ["guides/bring-your-data.md", "query-language.md", "columns.md", "batches.md", "security.md"]
LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files, config):
    docs = os.path.dirname(config.docs_dir)
    for place in BESIDE:
        files.append(File.generated(config, posixpath.basename(place), abs_src_path=os.path.join(docs, place)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Paths are relative to docs: those of the pages, of the documents beside them, and of the targets of links."""
    beside = {posixpath.basename(place): place for place in BESIDE}
    name = page.file.src_uri
    here = beside.get(name, posixpath.join("python", name))

    def led(match):
        text, target, anchor = match.groups()
        if "://" in target:
            return match.group(0)
        place = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        if place in BESIDE:
            found = posixpath.basename(place)
        elif place.startswith("python/"):
            found = place.removeprefix("python/")
        else:
            path = posixpath.normpath(posixpath.join("docs", place))
            return text if path in text else f"{text} (`{path}`)"
        return f"[{text}]({posixpath.relpath(found, posixpath.dirname(name) or '.')}{anchor or ''})"

    return LINK.sub(led, markdown)
