#!/bin/sh
# Shows that the crash harness finds what it is for.
#
#   run.sh [NAME...]        all mutants, or those with these names
#
# Every patch beside this script breaks one promise of mirror-bot. Its head says in plain words which one, and in two
# lines how the harness is run (Run:, with crew in front for workers that share mirrors) and which figure of its last
# line must then be above 0 (Finds:). The harness
# itself is never broken: it is built from this tree, only the program that it kills comes from a patched copy.
#
# First the harness must find nothing with the program as it is, then something with each mutant. The seed decides what
# happens and when, but not which of two processes is faster, so that a mutant is tried with up to three seeds. Exit
# code: 0 if all is so, 1 if a mutant survives, a patch does not apply or a mutant does not compile, 69 if something is
# missing.
#
# FOLDER   where the copy is made; kept if given, so that the next run builds less
# HARNESS  the harness to use instead of building it
# SWIFT    the swift command
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
swift=${SWIFT:-swift}

fail() { echo "$1" >&2; exit "${2:-69}"; }

# The line of a patch's head that begins with a word, without the word.
head_line() { sed -n "/^--- /q; s/^$2: *//p" "$1"; }

# The figure of the last line of a run.
figure() { tail -n 1 "$1" | sed -n "s/.*\"$2\":\([0-9][0-9]*\).*/\1/p"; }

seconds() { date +%s; }

row() { printf '%-18s %-10s %-60s %6s s\n' "$1" "$2" "$3" "$4"; }

# The figures that tell what a run found, in one phrase.
figures() {
    if ! tail -n 1 "$1" | grep -q '^{.*}$'; then echo "no figures: $(tail -n 1 "$1" | cut -c 1-44)"; return; fi
    for count in kills delivered duplicates lost unheard unexplained; do printf '%s %s  ' "$(figure "$1" $count)" $count; done
}

# Whether the three ledgers agreed in a run; $1 its log, $2 the figure that the mutant must raise.
finds_nothing() {
    for count in duplicates lost unheard unexplained overwritten "$2"; do [ "$(figure "$1" "$count")" = 0 ] || return 1; done
}

if [ $# -gt 0 ]; then
    patches=""
    for name in "$@"; do
        [ -f "$here/$name.patch" ] || fail "could not find the mutant $name: there are $(cd "$here" && ls ./*.patch | sed 's/^..//; s/.patch$//' | tr '\n' ' ')" 64
        patches="$patches $here/$name.patch"
    done
else
    patches=$(ls "$here"/*.patch)
fi

if [ -n "${FOLDER:-}" ]; then
    copy=$FOLDER
    mkdir -p "$copy"
else
    copy=$(mktemp -d "${TMPDIR:-/tmp}/mirror-bot-mutants.XXXXXX")
    trap 'rm -rf "$copy"' EXIT
    trap 'exit 130' INT TERM
fi
copy=$(cd "$copy" && pwd)
[ "$copy" != "$root" ] || fail "FOLDER is the tree itself, which is not to be patched" 64
logs=$copy/.build/mutants
mkdir -p "$logs"

# Only what differs, so that a folder that is kept builds only that.
(cd "$root" && find . -name .build -prune -o -name .git -prune -o -type f -print) | while IFS= read -r file; do
    cmp -s "$root/$file" "$copy/$file" && continue
    mkdir -p "$copy/$(dirname "$file")" && cp -p "$root/$file" "$copy/$file" || exit 1
done || fail "could not copy $root to $copy"
(cd "$copy" && find Sources Tests migrations -type f) | while IFS= read -r file; do
    [ -e "$root/$file" ] || rm "$copy/$file"
done

# Applied to the copy even if it lies inside a repository.
patched() { (cd "$copy" && GIT_CEILING_DIRECTORIES=$(dirname "$copy") git apply --whitespace=nowarn "$@"); }

build() { (cd "$copy" && $swift build --product mirror-bot >"$1" 2>&1); }

if [ -z "${HARNESS:-}" ]; then
    echo "building the harness …"
    (cd "$root" && MIRROR_BOT_HARNESSES=1 $swift build --product Torture >"$logs/harness.log" 2>&1) \
        || { tail -n 20 "$logs/harness.log" >&2; fail "could not build the harness"; }
    HARNESS=$(cd "$root" && $swift build --show-bin-path)/Torture
fi
echo "building the program …"
build "$logs/build.log" || { tail -n 20 "$logs/build.log" >&2; fail "could not build mirror-bot"; }
program=$(cd "$copy" && $swift build --show-bin-path)/mirror-bot

# $1 the patch's options, $2 the seed, $3 the log; the result is the harness's own.
torture() {
    case $1 in crew\ *) options=$1 ;; *) options="run $1" ;; esac
    "$HARNESS" $options --binary "$program" --seed "$2" >"$3" 2>"$3.err"
}

# Whether the harness fails as it must; $1 the options, $2 the figure, $3 the log.
is_found() {
    for seed in 1 2 3; do
        torture "$1" $seed "$3" && continue
        [ "$(figure "$3" "$2")" -gt 0 ] 2>/dev/null && return 0
    done
    return 1
}

status=0
row mutant verdict "found" "took"
for patch in $patches; do
    name=$(basename "$patch" .patch)
    options=$(head_line "$patch" Run)
    start=$(seconds)
    torture "$options" 1 "$logs/$name.sound"
    # A run that is confined to one thing may complain that it shows little.
    if finds_nothing "$logs/$name.sound" "$(head_line "$patch" Finds)"; then verdict=sound; else verdict=UNSOUND; status=1; fi
    row "(none)" "$verdict" "$(figures "$logs/$name.sound")" $(($(seconds) - start))
    [ "$verdict" = sound ] || tail -n 5 "$logs/$name.sound.err" >&2
done
for patch in $patches; do
    name=$(basename "$patch" .patch)
    options=$(head_line "$patch" Run)
    finds=$(head_line "$patch" Finds)
    start=$(seconds)
    if ! patched "$patch"; then
        row "$name" "STALE" "the patch does not apply" 0
        status=1
        continue
    fi
    if ! build "$logs/$name.build"; then
        row "$name" "BROKEN" "the mutant does not compile" $(($(seconds) - start))
        grep 'error: ' "$logs/$name.build" | sort -u | head -n 5 >&2
        status=1
    elif is_found "$options" "$finds" "$logs/$name.mutant"; then
        row "$name" "found" "$(figures "$logs/$name.mutant")" $(($(seconds) - start))
    else
        row "$name" "SURVIVED" "no $finds: $(figures "$logs/$name.mutant")" $(($(seconds) - start))
        status=1
    fi
    patched -R "$patch" || fail "could not take $name back" 1
done
exit $status
