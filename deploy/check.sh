#!/usr/bin/env bash
# Checks the files with which platforms deploy mirror-bot; `make check-deploy` has made what it needs before.
#
# usage: deploy/check.sh [CHECK …]     without one, all of them
#
# Each check is a function check_NAME, which ends the script where something is wrong. PROGRAMS is the folder with
# mirror-bot and Torture (.build/debug).
set -euo pipefail
cd "$(dirname "$0")/.."

checks=(shell heroku procfile)
programs=$(cd "${PROGRAMS:-.build/debug}" && pwd)
build=$PWD/.build/deploy
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# The folder of the tools from PyPI, made again when their list has changed.
prepare_tools() {
    if ! cmp -s deploy/requirements.txt "$build/requirements.txt"; then
        python3 -m venv --clear "$build/tools"
        "$build/tools/bin/pip" install -q --disable-pip-version-check -r deploy/requirements.txt
        cp deploy/requirements.txt "$build/requirements.txt"
    fi
    PATH=$build/tools/bin:$PATH
}

# Waits at most so many seconds until a command succeeds.
await() {
    local seconds=$1
    for ((tries = 0; tries < seconds * 5; tries++)); do
        if "${@:2}"; then return 0; fi
        sleep 0.2
    done
    fail "waited $seconds seconds for: ${*:2}"
}

check_shell() {
    local scripts
    mapfile -t scripts < <(git grep -lE '^#!.*(bash|/sh)$' -- bin deploy .ci)
    shellcheck "${scripts[@]}"
}

# What its fields may hold; that they suit the program, DeploymentFilesTests knows.
check_heroku() {
    check-jsonschema -q --schemafile deploy/heroku/app.schema.json app.json
    check-jsonschema -q --check-metaschema deploy/heroku/app.schema.json
    # The schema refuses what it should: a size and an add-on of former years, a bare value, a misspelled field.
    local wrong
    for wrong in 's/"basic"/"hobby"/' 's/essential-0/hobby-dev/' 's/"value": "2"/"value": 2/' 's/"formation"/"formations"/'; do
        sed "$wrong" app.json >"$scratch/wrong.json"
        if cmp -s app.json "$scratch/wrong.json" ||
            check-jsonschema -q --schemafile deploy/heroku/app.schema.json "$scratch/wrong.json" >/dev/null; then
            fail "app.schema.json takes app.json also after sed '$wrong'"
        fi
    done
}

# The processes under an ordinary runner, with an embedded database and a sandbox: both do their work, and TERM ends
# the worker in order.
check_procfile() {
    local network runner settings=$scratch/settings log=$scratch/log
    honcho check >/dev/null 2>&1 || fail "honcho cannot read the Procfile"
    # The runner starts a shell for each line, and TERM would end that one, whatever the program does.
    sed 's/^\([a-z]*\): */\1: exec /' Procfile >"$scratch/Procfile"
    "$programs/Torture" sandbox --settings "$settings" --minutes 10 &
    network=$!
    await 60 test -e "$settings"
    local clean=(env -i HOME="$scratch" MIRROR_BOT_HOME="$scratch/home" PATH="$programs:$PATH" LANG=C.UTF-8)
    [ -z "${MECAB_DICTIONARY:-}" ] || clean+=("MECAB_DICTIONARY=$MECAB_DICTIONARY")
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" start release || fail "the Procfile's release failed"
    # The script that a platform runs once; honcho gives it the variables.
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" run bash -c "$(postdeploy)" || fail "app.json's postdeploy failed"
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" start worker >"$log" 2>&1 &
    runner=$!
    wait "$network" || { tail -20 "$log" >&2; fail "the Procfile's worker did not post on the sandbox"; }
    kill -TERM "$runner"
    wait "$runner" || true
    grep -q 'worker.1 stopped (rc=0)' "$log" || { tail -20 "$log" >&2; fail "TERM did not end the worker in order"; }
}

postdeploy() { python3 -c 'import json; print(json.load(open("app.json"))["scripts"]["postdeploy"])'; }

prepare_tools
[ $# != 0 ] || set -- "${checks[@]}"
for check; do
    declare -F "check_$check" >/dev/null || fail "there is no check $check; expected: ${checks[*]}"
    echo "checking $check"
    "check_$check"
done
