#!/usr/bin/env python3
"""Answers ten questions about repositories twice: as an agent does with git grep and sed, and with vcm.

usage: bench.py VCM NAME=DIRECTORY...      for the names neovim, git, flask, vite, gin, ripgrep
       bench.py VCM NAME=DIRECTORY... --show TASK      prints what each step answers, too

The questions are in TASKS.md, and were written down before vcm was tried on them. Both ways begin with
the same search. After it, git grep and sed read a window of 20 lines before and 40 behind each line of
interest, in a step of its own unless windows overlap: where a definition begins and ends is not known. vcm reads definitions by the
names that its search gave, or lines of those that are long. Each step is one command without a shell;
tokens are those of all that it prints, counted by vcm tokens. What the answer has to cite must stand in
the output of both ways: a way that misses a fact has not answered.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time

LUA = "runtime/lua/vim/lsp"
HMR = "packages/vite/src/node/server/hmr.ts"
BUFFER = "crates/searcher/src/line_buffer.rs"
# Of each task: its repository; the steps of both ways ({window:FILE:LINE,LINE} is sed's); what is cited.
TASKS = {
    "neovim-cancel": ("neovim", [
        "git grep -n -i 'cancel_\\?request' -- runtime/lua",
        f"{{window:{LUA}/client.lua:846,891}}",
        f"{{window:{LUA}.lua:1253}}",
        "git grep -n _process_request -- runtime/lua",
        f"{{window:{LUA}/client.lua:694,783}}",
    ], [
        "vcm grep -i 'cancel_?request' --path runtime/lua",
        f"vcm read {LUA}/client.lua:cancel_request {LUA}/client.lua:_process_request",
        "vcm grep _process_request --path runtime/lua -C 1",
    ], [
        (f"{LUA}/client.lua", "function Client:cancel_request(id)"),
        (f"{LUA}/client.lua", "self.rpc.notify('$/cancelRequest', { id = id })"),
        (f"{LUA}/client.lua", "self.requests[id] = req_type ~= 'complete' and request or nil"),
        (f"{LUA}/client.lua", "self:_process_request(request_id, 'complete')"),
        (f"{LUA}/client.lua", "self:cancel_request(request_id)"),
        (f"{LUA}.lua", "client:cancel_request(request_id)"),
    ]),
    "neovim-autocmd": ("neovim", [
        "git grep -n -i nest -- src/nvim/autocmd.c",
        "{window:src/nvim/autocmd.c:1447,1467,1508}",
        "{window:src/nvim/autocmd.c:2002}",
    ], [
        "vcm grep -i nest --path src/nvim/autocmd.c",
        "vcm read src/nvim/autocmd.c:1465-1469 src/nvim/autocmd.c:1505-1513 "
        "src/nvim/autocmd.c:2000-2003",
    ], [
        ("src/nvim/autocmd.c", "E218: Autocommand nesting too deep"),
        ("src/nvim/autocmd.c", "if (nesting == 10) {"),
        ("src/nvim/autocmd.c", "if (autocmd_busy && !(force || autocmd_nested)) {"),
        ("src/nvim/autocmd.c", "autocmd_nested = ac->nested;"),
    ]),
    "git-delta-cache": ("git", [
        "git grep -n -i delta_\\\\?base_\\\\?cache_\\\\?limit -- '*.c' '*.h'",
        "{window:packfile.c:1308}",
        "{window:repo-settings.c:142}",
        "{window:pack-objects.h:12}",
    ], [
        "vcm grep -i 'delta_?base_?cache_?limit' --path '*.[ch]'",
        "vcm read packfile.c:add_delta_base_cache",
    ], [
        ("pack-objects.h", "DEFAULT_DELTA_BASE_CACHE_LIMIT (96 * 1024 * 1024)"),
        ("repo-settings.c", "core.deltabasecachelimit"),
        ("packfile.c", "if (delta_base_cached <= delta_base_cache_limit)"),
        ("packfile.c", "list_add_tail(&ent->lru, &delta_base_cache_lru);"),
    ]),
    "git-lockfile": ("git", [
        "git grep -n 'signal' -- lockfile.c lockfile.h tempfile.c tempfile.h",
        "{window:tempfile.c:66,117}",
        "{window:lockfile.c:83}",
    ], [
        "vcm grep signal --path lockfile.[ch] --path tempfile.[ch]",
        "vcm read tempfile.c:remove_tempfiles tempfile.c:remove_tempfiles_on_signal "
        "tempfile.c:activate_tempfile",
    ], [
        ("lockfile.c", "as a tempfile so it gets cleaned up by signal/atexit handlers"),
        ("tempfile.c", "sigchain_push_common(remove_tempfiles_on_signal);"),
        ("tempfile.c", "if (!is_tempfile_active(p) || p->owner != me)"),
        ("tempfile.c", "unlink(p->filename.buf);"),
        ("tempfile.c", "raise(signo);"),
    ]),
    "flask-session": ("flask", [
        "git grep -n -i 'signing_serializer\\|secret_key' -- src",
        "{window:src/flask/sessions.py:303,325,369}",
    ], [
        "vcm grep -i 'signing_serializer|secret_key' --path src",
        "vcm read src/flask/sessions.py:SecureCookieSessionInterface.get_signing_serializer "
        "src/flask/sessions.py:SecureCookieSessionInterface.open_session",
    ], [
        ("src/flask/sessions.py", 'if fallbacks := app.config["SECRET_KEY_FALLBACKS"]:'),
        ("src/flask/sessions.py", "keys.append(app.secret_key)"),
        ("src/flask/sessions.py", "return URLSafeTimedSerializer("),
        ("src/flask/sessions.py", "except BadSignature:"),
        ("src/flask/sessions.py", "self.get_signing_serializer(app).dumps(dict(session))"),
    ]),
    "flask-teardown": ("flask", [
        "git grep -n 'do_teardown\\|teardown_.*_funcs\\|teardown_appcontext_funcs' -- src",
        "{window:src/flask/app.py:1444,1472}",
        "{window:src/flask/ctx.py:490}",
    ], [
        "vcm grep 'do_teardown|teardown_.*_funcs|teardown_appcontext_funcs' --path src",
        "vcm read src/flask/app.py:1441-1451 src/flask/app.py:1470-1479 src/flask/ctx.py:480-498",
    ], [
        ("src/flask/app.py", "for func in reversed(self.teardown_request_funcs[name]):"),
        ("src/flask/app.py", "for func in reversed(self.teardown_appcontext_funcs):"),
        ("src/flask/app.py", 'collect_errors.raise_any("Errors during request teardown")'),
        ("src/flask/ctx.py", "if self._push_count > 0:"),
        ("src/flask/ctx.py", "self.app.do_teardown_request(self, exc)"),
        ("src/flask/ctx.py", "self.app.do_teardown_appcontext(self, exc)"),
    ]),
    "vite-reload": ("vite", [
        "git grep -n \"full-reload'\\|needFullReload\" -- packages/vite/src/node",
        f"{{window:{HMR}:459}}",
        f"{{window:{HMR}:642}}",
        f"{{window:{HMR}:693,766}}",
    ], [
        "vcm grep \"full-reload'|needFullReload\" --path packages/vite/src/node",
        f"vcm read {HMR}:updateModules",
    ], [
        (HMR, "let needFullReload: HasDeadEnd = modules.length === 0"),
        (HMR, "needFullReload = hasDeadEnd"),
        (HMR, "needFullReload = 'circular import invalidate'"),
        (HMR, "if (needFullReload || isClientHtmlChange) {"),
        (HMR, "type: 'update',"),
    ]),
    "gin-recovery": ("gin", [
        "git grep -n -i 'broken\\|EPIPE' -- '*.go'",
        "{window:recovery.go:63,81}",
    ], [
        "vcm grep -i 'broken|EPIPE' --path '*.go'",
        "vcm read recovery.go:61-90",
    ], [
        ("recovery.go", "errors.Is(err, syscall.ECONNRESET) ||"),
        ("recovery.go", "errors.Is(err, http.ErrAbortHandler)"),
        ("recovery.go", "c.Error(err)"),
        ("recovery.go", "c.Abort()"),
    ]),
    "gin-slash": ("gin", [
        "git grep -n 'redirectTrailingSlash\\|RedirectTrailingSlash\\|value.tsr' -- '*.go' ':!*_test.go'",
        "{window:gin.go:727,781}",
        "git grep -n 'func redirectRequest' -- '*.go'",
        "{window:gin.go:823}",
        "{window:tree.go:617,642}",
    ], [
        "vcm grep 'redirectTrailingSlash|RedirectTrailingSlash|value.tsr' --path '*.go' "
        "--path '!*_test.go'",
        "vcm read gin.go:redirectTrailingSlash gin.go:redirectRequest tree.go:640-644",
    ], [
        ("gin.go", "if value.tsr && engine.RedirectTrailingSlash {"),
        ("gin.go", 'req.URL.Path = p + "/"'),
        ("gin.go", "code := http.StatusMovedPermanently"),
        ("gin.go", "code = http.StatusTemporaryRedirect"),
        ("tree.go", 'value.tsr = path == "/" ||'),
    ]),
    "ripgrep-binary": ("ripgrep", [
        "git grep -n 'BinaryDetection::\\(Quit\\|Convert\\|quit\\|convert\\)\\|fn detect_binary' -- crates",
        f"{{window:{BUFFER}:437,449}}",
        "{window:crates/core/flags/hiargs.rs:1201}",
        "{window:crates/searcher/src/searcher/core.rs:224}",
    ], [
        "vcm grep 'BinaryDetection::(Quit|Convert|quit|convert)|fn detect_binary' "
        "--path 'crates/**'",
        f"vcm read {BUFFER}:434-462 crates/core/flags/hiargs.rs:BinaryDetection.from_low_args "
        "crates/searcher/src/searcher/core.rs:detect_binary",
    ], [
        (BUFFER, "if let Some(i) = newbytes.find_byte(byte) {"),
        (BUFFER, "replace_bytes(newbytes, byte, self.config.lineterm)"),
        ("crates/core/flags/hiargs.rs", "grep::searcher::BinaryDetection::quit(b'\\x00')"),
        ("crates/searcher/src/searcher/core.rs", "Ok(self.config.binary.quit_byte().is_some())"),
    ]),
}
BEFORE, BEHIND = 20, 40


def windows(step):
    """The commands of "{window:FILE:LINE,LINE}"."""
    _, path, lines = step.strip("{}").split(":")
    ranges = []
    for line in map(int, lines.split(",")):
        first, last = max(1, line - BEFORE), line + BEHIND
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1][1] = last
        else:
            ranges.append([first, last])
    return [f"sed -n {first},{last}p {path}" for first, last in ranges]


def run(vcm, step, place, home):
    words = shlex.split(step)
    if words[0] == "vcm":
        words[0] = vcm
    begun = time.monotonic()
    done = subprocess.run(words, cwd=place, env={**os.environ, "VCM_HOME": home}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    taken = time.monotonic() - begun
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}: {done.stdout.decode(errors='replace')}")
    return done.stdout, taken


def tokens(vcm, text):
    with tempfile.NamedTemporaryFile() as file:
        file.write(text)
        file.flush()
        done = subprocess.run([vcm, "tokens", file.name], capture_output=True, check=True)
    return int(done.stdout.split()[0].replace(b",", b""))


def answer(vcm, steps, place, home, facts, show):
    """Steps, tokens and seconds of one way; ends when a fact is missing."""
    output, total, seconds = b"", 0, 0.0
    steps = [one for step in steps
             for one in (windows(step) if step.startswith("{window:") else [step])]
    for step in steps:
        text, taken = run(vcm, step, place, home)
        count = tokens(vcm, text)
        if show:
            print(f"---- {step}  ({count} tokens)\n{text.decode(errors='replace')}")
        output += text
        total += count
        seconds += taken
    for path, fact in facts:
        with open(os.path.join(place, path), encoding="utf-8", errors="replace") as file:
            if fact not in file.read():
                sys.exit(f"{path} of {place} does not hold '{fact}': another revision?")
        if fact.encode() not in output:
            sys.exit(f"the answer lacks {path}: {fact}\n{shlex.join(steps)}")
    return len(steps), total, seconds


def main():
    words = sys.argv[1:]
    show = words[words.index("--show") + 1] if "--show" in words else None
    if show:
        del words[words.index("--show"):]
    vcm = os.path.realpath(words[0])
    places = dict(word.split("=", 1) for word in words[1:])
    print(f"{'task':17}{'git grep, sed':>24}{'vcm':>24}{'tokens':>9}")
    print(f"{'':17}" + f"{'steps':>7}{'tokens':>9}{'ms':>8}" * 2 + f"{'ratio':>9}")
    won = 0
    with tempfile.TemporaryDirectory() as home:
        for name, (repository, old, new, facts) in TASKS.items():
            if repository not in places or (show and show != name):
                continue
            place = places[repository]
            # The first reading of definitions indexes the repository: once, and not counted.
            run(vcm, "vcm symbols --limit 1", place, home)
            before = answer(vcm, old, place, home, facts, show)
            after = answer(vcm, new, place, home, facts, show)
            ratio = after[1] / before[1]
            won += after[0] < before[0] and ratio <= 0.5
            print(f"{name:17}" + "".join(f"{steps:7}{count:9,}{seconds * 1000:8.0f}"
                                         for steps, count, seconds in (before, after)) +
                  f"{ratio:9.2f}")
    print(f"{won} with fewer steps and at most half of the tokens")


if __name__ == "__main__":
    main()
