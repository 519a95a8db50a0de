"""Repositories: their maps, definitions, uses and lines, of commits, working trees and pages."""

import ctypes
import json
from ctypes import POINTER, byref, c_uint64
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Type, TypeVar,
                    Union)

from . import _arguments as check
from . import _native as native
from ._calls import Handle, collect
from ._native import decode, encode, encode_list, lib
from ._residency import Residency
from .types import MmapConfig

if TYPE_CHECKING:
    from . import results
else:
    from ._lazy import results

COUNT_MAX = 2 ** 63 - 1
T = TypeVar("T")
# Members of a row that are passed on when the map sets them, in the order of enum vcm_map_field.
ROW_FIELDS = ("start_dir", "include_globs", "exclude_globs", "binary_policy", "static",
              "chunk_target_tokens", "chunk_overlap_tokens")


def _place(repository: Optional[str], scope_id: Optional[str], commit: Optional[str],
           worktree: bool, all_scopes: bool) -> Any:
    return native.PlaceQuery(encode(repository, "repository"), encode(scope_id, "scope_id"),
                             encode(commit, "commit"), check.flag(worktree, "worktree"),
                             check.flag(all_scopes, "all_scopes"))


def _owned(handle: Handle, struct: Any, call: Callable[[Any], int], free: Any,
           take: Callable[[Any], T]) -> T:
    """Calls a function that hands out an object; what `take` makes of it."""
    out = POINTER(struct)()
    handle.check(call(byref(out)))
    try:
        return take(out.contents)
    finally:
        free(out)


def _row_kwargs(row: Any) -> Dict[str, Any]:
    """The arguments of mmap_application_scope() that a row stands for."""
    shown = results.take(results.MapRow, row)
    values = {name: getattr(shown, name, None) for name in ROW_FIELDS}
    values["binary_policy"] = "include" if row.include_binaries else "skip"
    return {"scope_id": decode(row.scope_id), "source_type": shown.type,
            "origin_url": decode(row.call_origin_url), "branch": decode(row.call_branch),
            "commit": decode(row.call_commit),
            **{name: values[name] for bit, name in enumerate(ROW_FIELDS) if row.sets >> bit & 1}}


class Repository(Residency):
    """The calls that look at repositories."""

    async def check(self, repository: str, *, branch: Optional[str] = None,
                    commit: Optional[str] = None) -> "results.CheckResult":
        """Everything that is wrong with a repository's map, and which files it would miss. Of the
        working tree, or of a branch or commit."""
        def take(report: Any) -> "results.CheckResult":
            rows = report.rows[:report.row_count]
            problems = report.problems[:report.problem_count]
            said = {warning: [results.take(results.MapProblem, problem) for problem in problems
                              if problem.is_warning == warning] for warning in (False, True)}
            return results.take(
                results.CheckResult, report, errors=said[False], warnings=said[True],
                sources=[results.take(results.CheckedSource, row) for row in rows],
                knowledge_routing=_routes(report))
        return await self._report(lib.vcm_map_check, native.MapQuery(
            repository=check.text(repository, "repository"), branch=encode(branch, "branch"),
            commit=encode(commit, "commit")), take)

    async def preview(self, repository: str, *, base_scope_id: Optional[str] = None,
                      branch: Optional[str] = None, commit: Optional[str] = None,
                      enabled_sources: Optional[Sequence[str]] = None
                      ) -> "results.PreviewResult":
        """What mapping would do, row by row, with the arguments of mmap_application_scope()."""
        def row_of(row: Any) -> Any:
            error = row.error.contents if row.error else None
            return results.PreviewSource(
                decode(row.name) or "", decode(row.scope_id) or "",
                native.VcmError(error.code, decode(error.message) or "") if error else None,
                None if error else _row_kwargs(row),
                MmapConfig(row.flush_threshold, row.flush_token_budget, row.pinned))
        only, only_count = encode_list(enabled_sources, "enabled_sources")
        return await self._report(lib.vcm_map_preview, native.MapQuery(
            repository=check.text(repository, "repository"), branch=encode(branch, "branch"),
            commit=encode(commit, "commit"), base_scope_id=encode(base_scope_id, "base_scope_id"),
            only=only, only_count=only_count), lambda report: results.take(
                results.PreviewResult, report, knowledge_routing=_routes(report),
                sources=[row_of(row) for row in report.rows[:report.row_count]]))

    async def show(self, repository: str, *, branch: Optional[str] = None,
                   commit: Optional[str] = None) -> "results.ShowResult":
        """A repository's map, with defaults filled in. INVALID_REPO_MAP when it has errors."""
        return await self._report(lib.vcm_map_show, native.MapQuery(
            repository=check.text(repository, "repository"), branch=encode(branch, "branch"),
            commit=encode(commit, "commit")), lambda report: results.take(
                results.ShowResult, report, knowledge_routing=_routes(report),
                sources=[results.take(results.MapRow, row)
                         for row in report.rows[:report.row_count]],
                raw=ctypes.string_at(report.raw, report.raw_len).decode("utf-8", "replace")
                if report.raw else None))

    async def _report(self, function: Any, query: Any, take: Callable[[Any], T]) -> T:
        return await self._run(lambda h: _owned(
            h, native.MapReport,
            lambda out: int(function(out, h.pointer, byref(query), byref(h.error))),
            lib.vcm_map_report_free, take))

    async def init(self, repository: str, *, tenant: Optional[str] = None,
                   colony: Optional[str] = None, program: Optional[str] = None,
                   author: Optional[str] = None, co_authors: Sequence[str] = (),
                   message: Optional[str] = None, lfs: bool = True, push: bool = True,
                   push_all: bool = False, migrate: bool = False, dry_run: bool = False
                   ) -> "results.InitResult":
        """Writes the missing ones of manifest, repo map and LFS patterns, commits exactly these
        files, and pushes. What fails after the commit is told in the result."""
        authors, author_count = encode_list(co_authors, "co_authors")
        options = native.InitOptions(
            directory=check.text(repository, "repository"), tenant=encode(tenant, "tenant"),
            colony=encode(colony, "colony"), program=encode(program, "program"),
            author=encode(author, "author"), co_authors=authors, co_author_count=author_count,
            message=encode(message, "message"), no_lfs=not check.flag(lfs, "lfs"),
            no_push=not check.flag(push, "push"), push_all=check.flag(push_all, "push_all"),
            migrate=check.flag(migrate, "migrate"), dry_run=check.flag(dry_run, "dry_run"))
        return await self._run(lambda h: _owned(
            h, native.InitResult,
            lambda out: int(lib.vcm_init(out, h.pointer, byref(options), byref(h.error))),
            lib.vcm_init_result_free, lambda result: results.take(
                results.InitResult, result,
                status="initialized" if result.initialized else "already_initialized")))

    async def promote(self, repository: str, paths: Sequence[str], *, dry_run: bool = False
                      ) -> "results.PromoteResult":
        """Moves literature from the knowledge base to pages: edits the map and commits that file
        alone. `paths` are files, directories or patterns, relative to the root."""
        names, count = encode_list(paths, "paths")
        options = native.PromoteOptions(check.text(repository, "repository"), names, count,
                                        check.flag(dry_run, "dry_run"))
        return await self._run(lambda h: _owned(
            h, native.PromoteResult,
            lambda out: int(lib.vcm_promote(out, h.pointer, byref(options), byref(h.error))),
            lib.vcm_promote_result_free,
            lambda result: results.take(results.PromoteResult, result)))

    async def _document(self, cls: Type[T], call: Callable[[Handle, Any], int]) -> T:
        """What a function passes on as JSON."""
        def work(handle: Handle) -> bytes:
            found: List[bytes] = []

            def visit(_context: Any, text: int, size: int, _error: Any) -> int:
                found.append(ctypes.string_at(text, size))
                return native.OK
            handle.check(call(handle, native.DocumentFn(visit)))
            return found[0]
        return results.document(cls, json.loads(await self._run(work)))

    async def repo_fetch(self, url: str, *, ref: Optional[str] = None,
                         subpath: Optional[str] = None, dest: Optional[str] = None,
                         depth: int = 1, timeout_s: Optional[float] = None
                         ) -> "results.FetchedRepository":
        """Clones a repository, or brings the clone up to date, and describes what is in it."""
        options = native.RepoFetchOptions(
            check.text(url, "url"), encode(ref, "ref"), encode(subpath, "subpath"),
            encode(dest, "dest"), check.count(depth, "depth", least=1),
            check.milliseconds(timeout_s, "timeout_s"))
        return await self._document(results.FetchedRepository, lambda h, visit: int(
            lib.vcm_repo_fetch(h.pointer, byref(options), visit, None, byref(h.error))))

    async def repo_map(self, repository: Optional[str] = None, *, token_budget: int = 1500,
                       include: Sequence[str] = (), focus: Sequence[str] = (),
                       mentions: Sequence[str] = (), commit: Optional[str] = None,
                       worktree: bool = False) -> "results.RepoMap":
        """The definitions of a commit, or of the working tree, that are used most, as text of at most so many tokens. Files of
        `focus` and names of `mentions` rank higher."""
        globs, files, names = (encode_list(value, name) for value, name in (
            (include, "include"), (focus, "focus"), (mentions, "mentions")))
        options = native.RepoMapOptions(
            encode(repository, "repository"), encode(commit, "commit"),
            check.count(token_budget, "token_budget", least=1), *globs, *files, *names,
            worktree=check.flag(worktree, "worktree"))
        return await self._document(results.RepoMap, lambda h, visit: int(
            lib.vcm_repo_map(h.pointer, byref(options), visit, None, byref(h.error))))

    async def symbols(self, repository: Optional[str] = None, *, kinds: Sequence[str] = (),
                      file: Optional[str] = None, name: Optional[str] = None,
                      from_file: Optional[str] = None, from_line: int = 0, limit: int = 0,
                      commit: Optional[str] = None, worktree: bool = False
                      ) -> "results.Symbols":
        """The definitions of a commit, or of the working tree, by path and line: of these kinds, in files of this pattern, with
        this in their name. `limit` 0 is all; the next begin behind the last one's file and line."""
        kind, kind_count = encode_list(kinds, "kinds")
        query = native.SymbolQuery(
            encode(repository, "repository"), encode(commit, "commit"), kind, kind_count,
            encode(file, "file"),
            encode(name, "name"), encode(from_file, "from_file"),
            check.count(from_line, "from_line"), check.count(limit, "limit", most=COUNT_MAX),
            check.flag(worktree, "worktree"))
        return await self._document(results.Symbols, lambda h, visit: int(
            lib.vcm_symbol_list(h.pointer, byref(query), visit, None, byref(h.error))))

    async def refs(self, name: str, *, repository: Optional[str] = None,
                   from_file: Optional[str] = None, from_line: int = 0, limit: int = 0,
                   commit: Optional[str] = None, worktree: bool = False
                   ) -> "results.References":
        """The uses of a name, or of the definition with a symbol_id, by path and line: at
        a commit (HEAD), or in the working tree."""
        query = native.ReferenceQuery(
            encode(repository, "repository"), encode(commit, "commit"),
            check.text(name, "name"),
            encode(from_file, "from_file"), check.count(from_line, "from_line"),
            check.count(limit, "limit", most=COUNT_MAX), check.flag(worktree, "worktree"))
        return await self._document(results.References, lambda h, visit: int(
            lib.vcm_reference_list(h.pointer, byref(query), visit, None, byref(h.error))))

    async def diff(self, range: str, *, repository: Optional[str] = None, by: str = "symbols"
                   ) -> "results.DiffResult":
        """What changed between two commits, "A..B", HEAD for an end that is left out: by
        "symbols", by "files", or by "pages", those of mapped scopes that are stale."""
        query = native.DiffQuery(encode(repository, "repository"), check.text(range, "range"),
                                 check.text(by, "by"))
        return await self._document(results.DiffResult, lambda h, visit: int(
            lib.vcm_diff(h.pointer, byref(query), visit, None, byref(h.error))))

    async def read(self, what: Union[str, Sequence[str]], *, repository: Optional[str] = None,
                   scope_id: Optional[str] = None, commit: Optional[str] = None,
                   worktree: bool = False, all_scopes: bool = False, context: int = 0,
                   format: str = "text", max_tokens: int = 0, cursor: Optional[str] = None
                   ) -> "results.ReadResult":
        """Lines of files ("src/a.c:10-20"), definitions ("Shop.total") and pages, as items and as
        one text for a model: "text", "markdown" or "xml". Of a commit, the working tree, or mapped
        pages. With `max_tokens` the rest comes by `cursor`, the next_cursor of the answer."""
        names, count = encode_list(check.names(what, "what"), "what")
        query = native.ReadQuery(
            _place(repository, scope_id, commit, worktree, all_scopes), names, count,
            check.count(context, "context"), check.text(format, "format"),
            check.count(max_tokens, "max_tokens", most=COUNT_MAX), encode(cursor, "cursor"))
        return await self._run(lambda h: _owned(
            h, native.ReadResult,
            lambda out: int(lib.vcm_read(out, h.pointer, byref(query), byref(h.error))),
            lib.vcm_read_free, lambda result: results.take(results.ReadResult, result)))

    async def outline(self, what: Union[str, Sequence[str]] = (), *,
                      repository: Optional[str] = None, scope_id: Optional[str] = None,
                      commit: Optional[str] = None, worktree: bool = False,
                      all_scopes: bool = False, max_tokens: int = 0,
                      cursor: Optional[str] = None) -> "results.OutlineResult":
        """The definitions of files and directories with their lines and tokens, and as one text
        for a model. With `max_tokens` the rest comes by `cursor`."""
        names, count = encode_list(check.names(what, "what"), "what")
        query = native.OutlineQuery(
            _place(repository, scope_id, commit, worktree, all_scopes), names, count,
            check.count(max_tokens, "max_tokens", most=COUNT_MAX), encode(cursor, "cursor"))
        return await self._run(lambda h: _owned(
            h, native.OutlineResult,
            lambda out: int(lib.vcm_outline(out, h.pointer, byref(query), byref(h.error))),
            lib.vcm_outline_free, lambda result: results.take(results.OutlineResult, result)))

    async def grep(self, pattern: str, *, repository: Optional[str] = None,
                   scope_id: Optional[str] = None, commit: Optional[str] = None,
                   worktree: bool = False, all_scopes: bool = False, ignore_case: bool = False,
                   word: bool = False, literal: bool = False, files_only: bool = False,
                   context: int = 0, paths: Sequence[str] = (), limit: int = 100,
                   from_scope_id: Optional[str] = None, from_path: Optional[str] = None,
                   from_line: int = 0) -> "results.GrepResult":
        """The lines that match a regular expression: of a commit, the working tree, or mapped
        pages. `paths` are gitignore patterns. At most `limit`, 0 for all that one call can return;
        the next begin at from_scope_id (of pages), from_path and from_line."""
        names, count = encode_list(paths, "paths")
        query = native.GrepQuery(
            check.text(pattern, "pattern"), check.flag(ignore_case, "ignore_case"),
            check.flag(word, "word"), check.flag(literal, "literal"),
            check.flag(files_only, "files_only"), check.count(context, "context"), names, count,
            _place(repository, scope_id, commit, worktree, all_scopes), None, 0,
            check.count(limit, "limit", most=COUNT_MAX), encode(from_scope_id, "from_scope_id"),
            encode(from_path, "from_path"), check.count(from_line, "from_line"))

        def work(handle: Handle) -> Any:
            gaps: List[Any] = []
            out = native.GrepResult()

            def call(match: Any) -> int:
                def gap(_context: Any, item: Any, _error: Any) -> int:
                    gaps.append(results.take(results.Gap, item.contents))
                    return native.OK
                visitor = native.GrepVisitor(match, native.GrepGapFn(gap), None)
                return int(lib.vcm_grep(byref(out), handle.pointer, byref(query), byref(visitor),
                                        byref(handle.error)))
            matches = collect(handle, native.GrepMatchFn,
                              lambda match: results.take(results.GrepMatch, match), call)
            return results.take(results.GrepResult, out, matches=matches, incomplete=gaps)
        return await self._run(work)

    async def find(self, path: str, *, scope_id: Optional[str] = None
                   ) -> "List[results.FoundPage]":
        """The pages that hold a file, or a line of it: "src/a.c:12"."""
        query = native.FindQuery(check.text(path, "path"), encode(scope_id, "scope_id"))
        return await self._run(lambda h: collect(
            h, native.FindFn, lambda entry: results.take(results.FoundPage, entry),
            lambda visit: int(lib.vcm_find(h.pointer, byref(query), visit, None,
                                           byref(h.error)))))

    async def tokens(self, paths: Sequence[str], *, encoding: Optional[str] = None
                     ) -> "results.TokenCounts":
        """Counts the tokens of files. One that cannot be read is an exception."""
        names, count = encode_list(paths, "paths")
        if not count:
            raise ValueError("paths must name at least one file")
        query = native.TokensQuery(names, count, encode(encoding, "encoding"))
        used: List[str] = []

        def take(file: Any) -> Any:
            if file.error:
                error = file.error.contents
                raise native.VcmError(error.code, decode(error.message) or "")
            used[:] = [decode(file.encoding) or ""]
            return results.take(results.TokensFile, file)

        def work(handle: Handle) -> Any:
            files = collect(handle, native.TokensFn, take, lambda visit: int(lib.vcm_tokens(
                handle.pointer, byref(query), visit, None, byref(handle.error))))
            return results.TokenCounts(used[0], files, sum(file.tokens for file in files))
        return await self._run(work)

    async def count_tokens(self, text: str, *, encoding: Optional[str] = None, limit: int = 0
                           ) -> int:
        """Counts the tokens of a text, in o200k_base unless another encoding is named. With a
        `limit` counting stops there: what is above it is no more than that."""
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, not {type(text).__name__}")
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"text is not valid UTF-8: {error.reason}") from None
        name = encode(encoding, "encoding")
        most = check.count(limit, "limit", most=COUNT_MAX)

        def work(handle: Handle) -> int:
            counted = c_uint64()
            handle.check(lib.vcm_tokens_count(byref(counted), name, data, len(data), most,
                                              byref(handle.error)))
            return counted.value
        return int(await self._run(work))

    async def lfs_status(self, repository: str) -> "results.LfsStatus":
        """The files of HEAD that are kept in LFS, and whether their content is here."""
        name = check.text(repository, "repository")
        return await self._lfs(lib.vcm_lfs_status, name, results.LfsFile, results.LfsStatus)

    async def lfs_pull(self, scope_id: Optional[str] = None) -> "results.LfsPull":
        """Fetches the LFS content that mapped rows lack: of a scope, of all scopes of a base, or
        of all. What cannot be fetched is told in the result."""
        return await self._lfs(lib.vcm_lfs_pull, encode(scope_id, "scope_id"), results.PulledFile,
                               results.LfsPull)

    async def _lfs(self, function: Any, name: Optional[bytes], file: Type[Any], cls: Type[T]) -> T:
        def work(handle: Handle) -> T:
            sums: List[T] = []
            files: List[Any] = []

            def call(visit: Any) -> int:
                def sum_up(_context: Any, item: Any, _error: Any) -> int:
                    sums.append(results.take(cls, item.contents, files=files))
                    return native.OK
                return int(function(handle.pointer, name, visit, native.LfsSummaryFn(sum_up), None,
                                    byref(handle.error)))
            collect(handle, native.LfsFileFn,
                    lambda item: files.append(results.take(file, item)), call)
            return sums[0]
        return await self._run(work)


def _routes(report: Any) -> List[Any]:
    return [results.take(results.MapRoute, route) for route in report.routes[:report.route_count]]
