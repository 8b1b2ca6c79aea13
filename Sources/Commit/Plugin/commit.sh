#!/bin/sh
# Writes the Swift file $1, which names the commit that the tree is of. A file that is right already stays as it is, so
# that nothing is compiled for it.
#
# SOURCE_VERSION comes first: platforms that build without git's data set it, as Heroku does. Then git itself, and then
# the name that `git archive` wrote into this file.
cd "$(dirname "$0")/../../.." || exit 69
# shellcheck disable=SC2016  # git archive expands it, not the shell.
archived='$Format:%h$'
name="unknown commit"
if [ -n "$SOURCE_VERSION" ]; then
    name=$SOURCE_VERSION
    case $name in *[!0-9a-f]*) ;; *) name=$(printf %.7s "$name") ;; esac
elif [ -e .git ] && commit=$(git rev-parse --short=7 HEAD 2>/dev/null); then
    name=$commit
    [ -z "$(git --no-optional-locks status --porcelain 2>/dev/null)" ] || name="$commit, changed"
elif [ "${archived#?Format}" = "$archived" ]; then
    name=$archived
fi
# It becomes a part of a Swift file.
case $name in *[!0-9A-Za-z._,\ -]*) name="unknown commit" ;; esac
text="enum BuiltCommit { @inline(never) static var name: String { \"$name\" } }"
[ "$(cat "$1" 2>/dev/null)" = "$text" ] || printf '%s\n' "$text" >"$1"
