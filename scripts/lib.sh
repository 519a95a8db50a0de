# shellcheck shell=bash
#
# lib.sh - what scripts/vcm and scripts/test share: packages, npm modules, configure and build.
#
# Sourced by bash scripts that set $root to the top of the checkout. Nothing here writes to stdout,
# reads stdin or changes the caller's directory. Functions return 1 after a failure that they have
# reported; callers stop then.

build_dir=${root:?is set by the script that sources this}/build

say() {
    printf 'vcm: %s\n' "$*" >&2
}

# Runs a command with its output kept away, and shows all of it when the command fails.
quietly() {
    local log status=0
    log=$(mktemp "$build_dir/log.XXXXXX") || return 1
    "$@" >"$log" 2>&1 </dev/null || status=1
    [ $status = 0 ] || cat "$log" >&2
    rm -f "$log"
    return $status
}

# Runs a function while no other script of this checkout prepares anything. The lock is not handed
# down to the programs that the function starts, so that none of them can hold it for longer.
with_lock() {
    mkdir -p "$build_dir" || return 1
    (
        if ! flock --nonblock 9; then
            say "waiting for another build of this checkout"
            flock 9 || exit 1
        fi
        "$@" 9>&-
    ) 9>"$build_dir/.lock"
}

# The lines "package reason" of scripts/dependencies.txt for the given kinds.
list_packages() {
    local package kind reason
    while read -r package kind reason; do
        if [[ -n $package && $package != \#* && " $* " == *" $kind "* ]]; then
            printf '%s %s\n' "$package" "$reason"
        fi
    done <"$root/scripts/dependencies.txt"
}

# Those of the lines on stdin whose package is not there, by the rule of scripts/dependencies.txt.
only_missing() {
    local package reason command state
    while read -r package reason; do
        if [[ $package == *=* ]]; then
            command=${package#*=} package=${package%%=*}
            command -v "$command" >/dev/null && continue
        fi
        # shellcheck disable=SC2016 # dpkg-query expands it, not the shell
        state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)
        [ "$state" = installed ] || printf '%s %s\n' "$package" "$reason"
    done
}

install_packages() {
    local run=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
    if [ "$(id -u)" != 0 ]; then
        run=(sudo "${run[@]}")
    fi
    say "installing $*"
    if ! quietly "${run[@]}" update; then
        say "the package lists could not be updated (no network?); trying with those at hand"
    fi
    if ! quietly "${run[@]}" install --yes --no-install-recommends "$@"; then
        say "could not install the packages above; is the network up? To do it by hand:"
        say "    apt-get update && apt-get install $*"
        return 1
    fi
}

# Tells what is missing, a line each, and how to go on where the packages have other names.
ask_for() {
    local package reason
    say "$1:"
    while read -r package reason; do
        printf '    %-20s %s\n' "$package" "$reason" >&2
    done <<<"$2"
    say "set VCM_SKIP_PACKAGES=1 to go on without this check"
}

# ensure_packages KIND...: every package of these kinds is there afterwards. A copy of the list
# marks that it was so once, which makes the next call a comparison of two small files.
ensure_packages() {
    local kinds="$*" list="$root/scripts/dependencies.txt" missing stamp
    stamp="$build_dir/packages-${kinds// /-}.ok"
    if [ -n "${VCM_SKIP_PACKAGES:-}" ] ||
        { [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(<"$list")" ]; }; then
        return 0
    fi
    missing=$(list_packages "$@" | only_missing)
    if [ -n "$missing" ]; then
        if ! command -v apt-get >/dev/null; then
            ask_for "this system has no apt-get; please install what these Debian packages hold" \
                "$missing"
            return 1
        fi
        if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
            ask_for "neither root nor sudo here; please have these packages installed" "$missing"
            return 1
        fi
        # shellcheck disable=SC2046 # package names have no blanks
        install_packages $(printf '%s\n' "$missing" | cut -d' ' -f1) || return 1
    fi
    cp "$list" "$stamp"
}

# ensure_node_modules FOLDER: the npm packages of the lock file of a folder of the checkout, without
# running any script of theirs.
ensure_node_modules() {
    local folder="$root/$1" lock stamp
    lock="$folder/package-lock.json" stamp="$folder/node_modules/.vcm-package-lock.json"
    if [ ! -e "$folder/package.json" ] || cmp -s "$lock" "$stamp"; then
        return 0
    fi
    ensure_packages npm || return 1
    say "fetching the npm packages of ${lock#"$root/"}"
    if ! quietly npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund; then
        say "npm ci failed; is the network up?"
        return 1
    fi
    cp "$lock" "$stamp"
}

# ensure_configured PRESET [-DNAME=VALUE...]: again when the presets, the arguments or the place of
# the checkout changed. What is in the CMakeLists.txt files is ninja's to notice.
ensure_configured() {
    local stamp="$build_dir/$1/.configured" want="$root $*"
    if [ -e "$stamp" ] && [ "$(<"$stamp")" = "$want" ] &&
        [ ! "$root/CMakePresets.json" -nt "$stamp" ]; then
        return 0
    fi
    rm -f "$stamp"
    quietly cmake --fresh -S "$root" --preset "$@" || return 1
    printf '%s\n' "$want" >"$stamp"
}

# build PRESET [TARGET...]: silent when there is nothing to do, which ninja knows in milliseconds.
build() {
    local dir="$build_dir/$1"
    shift
    if [[ $(ninja -C "$dir" -n "$@" 2>&1) == *"ninja: no work to do." ]]; then
        return 0
    fi
    say "building ${dir##*/}"
    if [ -t 2 ]; then
        ninja -C "$dir" "$@" >&2 </dev/null
    else
        quietly ninja -C "$dir" "$@"
    fi || {
        say "the build failed, see above"
        return 1
    }
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
    ensure_configured "$1" && build "$@"
}
