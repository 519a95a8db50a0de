"""Every method of the manager with every argument wrong: an exception, never a crash."""

import asyncio
import inspect
import os

import fixture
from fixture import COLONY, vcm

# What is no string, number, list, function or anything else that is asked for.
WRONG = object()
NO_TEXT = {"no UTF-8": "a\udcffb", "a NUL": "a\0b"}


def methods():
    """Every public coroutine and asynchronous generator of the manager, by name."""
    return {name: method for name, method in inspect.getmembers(vcm.VirtualContextManager)
            if not name.startswith("_") and name != "aclose" and
            (inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method))}


def begin(call):
    """What to await: of a generator its first item."""
    return call.__anext__() if inspect.isasyncgen(call) else call


class Misuse(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.map()
        pages = await self.manager.get_pages_for_scope(COLONY)
        record, *_ = await self.manager.get_application_records_in_page(pages[0].page_id)
        self.page = pages[0].page_id
        self.right = {"origin_url": self.repo, "scope_id": COLONY, "page_id": self.page,
                      "page_ids": [self.page], "record_id": record.record_id,
                      "fault_id": "fault-000000000001", "lock_duration_s": 60,
                      "additional_duration_s": 60, "query": "whale", "repository": self.repo,
                      "what": "src/f1.c", "name": "f1", "pattern": "f1", "path": "src/f1.c",
                      "paths": ["src/f1.c"], "url": self.repo, "file": "trace", "key": "log_level",
                      "value": "info", "chunk_id": "012345", "text": "whale", "range": "HEAD..HEAD"}

    def arguments(self, method, **wrong):
        """The arguments that the method needs, with some of them replaced."""
        needed = {name: self.right[name] for name, parameter in
                  list(inspect.signature(method).parameters.items())[1:]
                  if parameter.default is inspect.Parameter.empty}
        return {**needed, **wrong}

    def parameters(self):
        for name, method in methods().items():
            for parameter in list(inspect.signature(method).parameters.values())[1:]:
                yield name, method, parameter

    async def test_there_is_every_call_of_the_framework(self):
        wanted = {"materialize_repo_map", "mmap_application_scope", "munmap_application_scope",
                  "is_application_scope_mapped", "get_application_scope_mapping_status",
                  "get_all_mapped_scopes", "get_pages_for_scope", "get_virtual_page",
                  "get_application_records_in_page", "request_page_load", "issue_page_fault",
                  "wait_for_pages", "lock_page", "unlock_page", "extend_page_lock",
                  "get_page_lock_info", "list_stored_pages", "get_stats"}
        self.assertEqual(wanted - set(methods()), set())

    async def test_a_wrong_type_is_named(self):
        for name, method, parameter in self.parameters():
            with self.subTest(method=name, argument=parameter.name):
                call = getattr(self.manager, name)(
                    **self.arguments(method, **{parameter.name: WRONG}))
                with self.assertRaisesRegex(TypeError, parameter.name):
                    await begin(call)

    async def test_a_string_that_is_none_is_named(self):
        for name, method, parameter in self.parameters():
            if "str" not in str(parameter.annotation):
                continue
            for kind, text in NO_TEXT.items():
                if (name, kind) == ("count_tokens", "a NUL"):
                    continue  # which is a token as any other
                with self.subTest(method=name, argument=parameter.name, kind=kind):
                    listed = "Sequence" in str(parameter.annotation) or \
                        "Iterable" in str(parameter.annotation)
                    value = {text: b""} if "Dict" in str(parameter.annotation) else \
                        [text] if listed else text
                    call = getattr(self.manager, name)(
                        **self.arguments(method, **{parameter.name: value}))
                    with self.assertRaisesRegex(ValueError, parameter.name):
                        await begin(call)

    async def test_a_number_out_of_range_is_named(self):
        for name, method, parameter in self.parameters():
            if "int" not in str(parameter.annotation) and "float" not in str(parameter.annotation):
                continue
            for number in (-1, 2 ** 70):
                if "float" in str(parameter.annotation) and number > 0 and \
                        parameter.name == "timeout":
                    continue
                with self.subTest(method=name, argument=parameter.name, number=number):
                    call = getattr(self.manager, name)(
                        **self.arguments(method, **{parameter.name: number}))
                    with self.assertRaisesRegex(ValueError, parameter.name):
                        await begin(call)

    async def test_an_unknown_keyword_is_named(self):
        for name, method in methods().items():
            with self.subTest(method=name):
                with self.assertRaisesRegex(TypeError, "flush_size"):
                    await begin(getattr(self.manager, name)(
                        **self.arguments(method, flush_size=3)))
        for made in (vcm.MmapConfig, vcm.VirtualContextManager):
            with self.assertRaisesRegex(TypeError, "flush_size"):
                made(flush_size=3)

    async def test_a_closed_manager_says_so(self):
        held = await self.manager.get_virtual_page(self.page)
        listed = (await self.manager.get_pages_for_scope(COLONY))[0]
        text = bytes(held.text)
        await self.manager.aclose()
        await self.manager.aclose()
        self.manager.close()
        for name, method in methods().items():
            with self.subTest(method=name):
                with self.assertRaisesRegex(vcm.VcmError, "closed"):
                    await begin(getattr(self.manager, name)(**self.arguments(method)))
        with self.assertRaisesRegex(vcm.VcmError, "closed"):
            listed.text  # pylint: disable=pointless-statement
        self.assertEqual(bytes(held.text), text)

    async def test_a_released_page_says_so(self):
        page = await self.manager.get_virtual_page(self.page)
        text = page.text
        page.release()
        page.release()
        with self.assertRaisesRegex(ValueError, "released"):
            page.text  # pylint: disable=pointless-statement
        with self.assertRaises(ValueError):
            text[0]  # pylint: disable=pointless-statement
        with self.assertRaises(TypeError):
            (await self.manager.get_virtual_page(self.page)).text[0] = 3

    async def test_a_forked_child_is_refused_by_every_method(self):
        calls = {name: begin(getattr(self.manager, name)(**self.arguments(method)))
                 for name, method in methods().items()}
        child = os.fork()
        if child == 0:
            accepted = []
            for name, call in calls.items():
                try:
                    call.send(None)
                    accepted.append(name)
                except vcm.VcmError as error:
                    if "before a fork" not in error.message:
                        accepted.append(name)
                except BaseException:  # pylint: disable=broad-except
                    accepted.append(name)
            if accepted:
                os.write(2, f"not refused: {accepted}\n".encode())
            os._exit(1 if accepted else 0)
        for call in calls.values():
            call.close() if inspect.iscoroutine(call) else await asyncio.sleep(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertTrue(await self.manager.is_application_scope_mapped(COLONY))

    async def test_home_must_be_a_path(self):
        for home, error in ((3, TypeError), (b"home", TypeError), ("a\0b", ValueError),
                            ("a\udcff", ValueError), ("", vcm.VcmError)):
            with self.assertRaises(error):
                vcm.VirtualContextManager(home)

    async def test_what_is_in_a_list_must_be_right_too(self):
        for options in ({"include_globs": "*.c"}, {"include_globs": [None]},
                        {"exclude_globs": [3]}):
            with self.assertRaisesRegex(TypeError, next(iter(options))):
                await self.map(**options)
        with self.assertRaisesRegex(TypeError, "page_id"):
            await self.manager.issue_page_fault([3])
        with self.assertRaisesRegex(TypeError, "documents"):
            await self.manager.ingest(documents={"a.txt": "text"})
        with self.assertRaisesRegex(TypeError, "config"):
            await self.map(config={"pinned": True})

    async def test_the_config_is_checked_when_it_is_made(self):
        for values in ({"flush_threshold": "8"}, {"flush_token_budget": 64.5}, {"pinned": 1},
                       {"flush_interval_seconds": "60"}):
            with self.assertRaisesRegex(TypeError, next(iter(values))):
                vcm.MmapConfig(**values)
        for values in ({"flush_threshold": 0}, {"flush_threshold": 2 ** 32},
                       {"flush_policy_type": "periodic"}):
            with self.assertRaisesRegex(ValueError, next(iter(values))):
                vcm.MmapConfig(**values)


if __name__ == "__main__":
    fixture.main()
