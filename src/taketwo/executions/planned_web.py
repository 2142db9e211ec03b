"""The web of a study: as its file says, as it is now, and opened for the cells of one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from taketwo.errors import TaketwoError
from taketwo.executions.plan import Plan
from taketwo.executions.study_file import StudyFile, read_study_file, study_file_of
from taketwo.executions.web_spec import WebSpec
from taketwo.tools.open_web import open_web
from taketwo.tools.web import Web
from taketwo.tools.web_corpus import corpus_sha256

__all__ = ["opened_web", "planned_web", "require_web", "web_now"]


def planned_web(study: StudyFile) -> WebSpec | None:
    """Return the web that a study file names, recorded pages by their hash; None where it names none.

    What is wrong is added to the problems of the file. No key is needed for that.
    """
    section = study.sections.web
    if section is None or section.search is None:
        return None
    if section.search != "corpus":
        return WebSpec(search=section.search)
    if section.path is None:
        return None
    path = (study.folder / section.path).resolve()
    try:
        return WebSpec(search="corpus", path=str(path), sha256=corpus_sha256(path))
    except TaketwoError as error:
        study.problems.add(("web", "path"), str(error))
        return None


def web_now(web: WebSpec | None) -> WebSpec | None:
    """Return the web of a plan with the hash that its recorded pages have now.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    if web is None or web.path is None:
        return web
    return replace(web, sha256=corpus_sha256(Path(web.path)))


def require_web(web: WebSpec | None) -> None:
    """Make sure that a live search can be made: that its key and its packages are there.

    Raises
    ------
    RequestError
        If one is missing.
    """
    if web is not None and web.search != "corpus":
        open_web(web.search)


def opened_web(plan: Plan, folder: Path) -> Web | None:
    """Return the web of a study for its cells; recorded pages are sought where the study file has them.

    Raises
    ------
    RequestError
        If a key or a package is missing, or the recorded pages are not those of the plan.
    DataError
        If they cannot be read.
    """
    web = plan.web
    if web is None:
        return None
    path = None if web.path is None else Path(web.path)
    study_yaml = study_file_of(plan, folder)
    if study_yaml is not None and web.search == "corpus":
        study = read_study_file(study_yaml)
        section = study.sections.web
        if section is not None and section.path is not None:
            path = (study.folder / section.path).resolve()
    return open_web(web.search, path=path, sha256=web.sha256)
