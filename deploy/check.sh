#!/usr/bin/env bash
# Checks the files with which platforms deploy mirror-bot; `make check-deploy` has made what it needs before.
#
# usage: deploy/check.sh [CHECK …]     without one, all but libraries, dist and deb, which need what `make deb` has made
#
# Each check is a function check_NAME, which ends the script where something is wrong. PROGRAMS is the folder with
# mirror-bot and Torture (.build/debug), BUILT that of the program that was packed (.build/release). SUITES are the
# releases of Debian in which the packages are tried (bookworm and trixie).
set -euo pipefail
cd "$(dirname "$0")/.."

checks=(shell heroku container fly render kubernetes systemd upgrade manual prometheus proxies procfile)
programs=$(cd "${PROGRAMS:-.build/debug}" && pwd)
built=$(realpath -m "${BUILT:-.build/release}")
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
    # Refused: a size and an add-on of former years, a bare value, a misspelled field.
    check_schema deploy/heroku/app.schema.json app.json \
        's/"basic"/"hobby"/' 's/essential-0/hobby-dev/' 's/"value": "2"/"value": 2/' 's/"formation"/"formations"/'
}

# Checks a file against a schema of ours, and that the schema refuses the file after each of some edits.
check_schema() {
    check-jsonschema -q --check-metaschema "$1"
    refuses check-jsonschema -q --schemafile "$1" -- "${@:2}"
}

# Runs a check on a file, and once more for each of some edits, after which it must fail: refuses CHECK … -- FILE EDIT …
refuses() {
    local check=() file edit wrong
    while [ "$1" != -- ]; do check+=("$1") && shift; done
    file=$2
    "${check[@]}" "$file" || fail "$file is refused"
    for edit in "${@:3}"; do
        wrong=$scratch/$(basename "$file")
        sed "$edit" "$file" >"$wrong"
        if cmp -s "$file" "$wrong" || "${check[@]}" "$wrong" >/dev/null 2>&1; then
            fail "${check[*]} takes $file also after sed '$edit'"
        fi
    done
}

# The Dockerfile by its linter and what no linter knows: that what it copies is there and not left out. The services by
# their public schema.
check_container() {
    local path copied
    refuses hadolint -- Dockerfile 's/^FROM \(.*\)-slim/FROM \1-slim:latest:/' 's/^COPY Package.swift/COPPY Package.swift/'
    mapfile -t copied < <(sed -n '/--from/d; s/^COPY \(.*\) [^ ]*$/\1/p' Dockerfile | tr ' ' '\n')
    [ "${#copied[@]}" -gt 0 ] || fail "the Dockerfile copies nothing"
    for path in "${copied[@]}"; do
        [ -e "$path" ] || fail "the Dockerfile copies $path, which is missing"
        grep -qx "!$path" .dockerignore || fail "the Dockerfile copies $path, which .dockerignore leaves out"
    done
    refuses check-jsonschema -q --builtin-schema vendor.compose-spec -- compose.yaml \
        's/stop_grace_period/stop_grace_time/' 's/service_healthy/service_well/'
}

check_fly() {
    check_schema deploy/fly/fly.schema.json deploy/fly/fly.toml \
        's/kill_timeout/kill_time/' 's/release_command/release_comand/' 's/"immediate"/"at once"/' 's/"512mb"/512/'
    [ -e "deploy/fly/$(sed -n 's/^ *dockerfile = "\(.*\)"/\1/p' deploy/fly/fly.toml)" ] || fail "fly.toml names no Dockerfile"
}

check_render() {
    check_schema deploy/render/render.schema.json deploy/render/render.yaml \
        's/preDeployCommand/preDeployComand/' 's/noeviction/no-eviction/' '/ipAllowList/d' 's/sync: false/sync: no thanks/'
}

check_kubernetes() {
    refuses kubernetes-validate --strict --quiet -- deploy/kubernetes/mirror-bot.yaml \
        's/livenessProbe/livelinessProbe/' 's/replicas: 1/replicas: one/' 's/envFrom/envsFrom/'
}

# The unit as the package installs it: no line is unknown, and little is left to the service.
check_systemd() {
    local units=(mirror-bot.service mirror-bot-backup.service mirror-bot-backup.timer) name
    for name in "${units[@]}"; do
        sed "s,^\(ExecStart[a-zA-Z]*=-*\)/usr/bin,\1$programs,; /^Documentation=man/d" "deploy/debian/$name" >"$scratch/$name"
    done
    for name in "${units[@]}"; do
        verify_unit "$scratch/$name" || fail "systemd-analyze complains about deploy/debian/$name"
    done
    sed 's/^WatchdogSec/WatchdogSecs/' "$scratch/mirror-bot.service" >"$scratch/wrong.service"
    if verify_unit "$scratch/wrong.service" 2>/dev/null; then fail "systemd-analyze takes a misspelled line"; fi
    # In tenths: at most 1.5.
    for name in mirror-bot.service mirror-bot-backup.service; do
        systemd-analyze security --offline=true --threshold=15 --no-pager "$scratch/$name" | tail -1
    done
}

# Every platform migrates before a new worker starts, and starts one again that has ended with 75: docs/deploy.md, Upgrade.
check_upgrade() {
    refuses migrates_first -- Procfile 's/^release/before/'
    refuses migrates_first -- deploy/fly/fly.toml 's/^  release_command/  command/' 's/"immediate"/"canary"/'
    refuses migrates_first -- deploy/render/render.yaml 's/preDeployCommand: mirror-bot migrate/preDeployCommand: mirror-bot status/'
    refuses migrates_first -- deploy/kubernetes/mirror-bot.yaml 's/Recreate/RollingUpdate/' 's/initContainers/containers/'
    refuses migrates_first -- compose.yaml 's/service_completed_successfully/service_started/'
    refuses migrates_first -- deploy/debian/mirror-bot.service '/^ExecStartPre/d' 's/=64 65 77/=64 65 75 77/'
}

# Whether the file of a platform, told by its name, does that.
migrates_first() {
    local text
    text=$(tr -d '"[],' <"$1" | tr -s ' \n' ' ')
    case $(basename "$1") in
        Procfile) [[ $text == *"release: mirror-bot migrate "* ]] ;;
        fly.toml) [[ $text == *" release_command = mirror-bot migrate "*" strategy = immediate "* ]] ;;
        render.yaml) [[ $text == *" preDeployCommand: mirror-bot migrate "* ]] ;;
        mirror-bot.yaml)
            [[ $text == *" strategy: { type: Recreate } "*" initContainers: "*" command: mirror-bot migrate "*" containers: "* ]]
            ;;
        compose.yaml)
            [[ $text == *" migrate: { condition: service_completed_successfully } "*" command: mirror-bot migrate "* ]]
            ;;
        mirror-bot.service)
            [[ $text == *" ExecStartPre=-/usr/bin/mirror-bot migrate ExecStart="* &&
                $text != *" RestartPreventExitStatus="*" 75 "* ]]
            ;;
        *) return 1 ;;
    esac
}

# Unknown lines are only told of.
verify_unit() {
    local words
    words=$(systemd-analyze verify --man=no "$1" 2>&1) || true
    if [ -n "$words" ]; then echo "$words" >&2 && return 1; fi
}

# The manual page that is made of what the program says of itself.
check_manual() {
    "$programs/mirror-bot" --experimental-dump-help | python3 deploy/manual.py 0 "January 1, 2026" >"$scratch/mirror-bot.1"
    mandoc -T lint -W warning "$scratch/mirror-bot.1"
    grep -q '^\.Ss mirror\\-bot train scheduler$' "$scratch/mirror-bot.1" || fail "the manual page lacks train scheduler"
}

# --- Metrics ----------------------------------------------------------------------------------------------------------

# Puts a program of a Debian package into the path: unpack PACKAGE PROGRAM. The package is unpacked and not installed, for
# that would start a server.
unpack() {
    local folder=$build/$1
    if ! command -v "$2" >/dev/null && [ ! -x "$folder/usr/bin/$2" ]; then
        rm -rf "$folder" && mkdir -p "$folder"
        (cd "$folder" && apt-get download -q "$1" >/dev/null 2>&1) || fail "apt-get could not download $1; run apt-get update"
        dpkg-deb -x "$folder/$1"_*.deb "$folder"
    fi
    PATH=$PATH:$folder/usr/bin
}

# The alerts fire where their tests say, and the tests notice each one that fires at another time. The dashboard asks in
# Prometheus' language. That both name what the program measures, DeploymentFilesTests knows.
check_prometheus() {
    local rules=deploy/prometheus/mirror-bot.rules.yml names name edits=()
    unpack prometheus promtool
    promtool check rules "$rules" >/dev/null
    mapfile -t names < <(sed -n 's/.*- alert: //p' "$rules")
    for name in "${names[@]}"; do
        edits+=("/alert: $name\$/,/for:/ s/for: .*/for: 1d/" "/alert: $name\$/,/for:/ s/for: .*/for: 0m/")
    done
    refuses test_rules -- "$rules" "${edits[@]}" 's/unless on/and on/' 's/ > 60/ > 200/' 's/ < 20/ < 21/' 's/< 0.1/< 0.2/' \
        's/expired|failed/planned|failed/' 's/paused|unset/unset/' 's/status --mirror/status --all --mirror/'
    python3 deploy/grafana/expressions.py deploy/grafana/mirror-bot.json >"$scratch/expressions.yml"
    promtool check rules "$scratch/expressions.yml" >/dev/null || fail "promtool refuses an expression of the dashboard"
    try_metrics
}

test_rules() {
    local folder
    folder=$(mktemp -d -p "$scratch")
    cp "$1" "$folder/mirror-bot.rules.yml" && cp deploy/prometheus/mirror-bot.rules.test.yml "$folder"
    promtool test rules "$folder/mirror-bot.rules.test.yml" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; return 1; }
}

# Serves the page of a new database in a folder called $1, with the settings that follow. Sets the variables clean (the
# command before the program), page (its process) and address.
open_page() {
    local log=$scratch/$1.log
    clean=(env -i HOME="$scratch" MIRROR_BOT_HOME="$scratch/$1" TIME_ZONE=UTC PATH="$PATH" LANG=C.UTF-8 "${@:2}")
    "${clean[@]}" "$programs/mirror-bot" train scheduler --from - >"$scratch/log" 2>&1 \
        <<<'{"id":"1","author":"a","text":"b","created_at":"2026-01-01T00:00:00Z"}'
    "${clean[@]}" "$programs/mirror-bot" web --listen 127.0.0.1:0 2>"$log" &
    page=$!
    await 30 grep -q 'address=' "$log"
    address=$(sed -n 's,.*address="*\(http[^ "]*\)/.*,\1,p' "$log")
}

close_page() {
    kill -TERM "$page"
    wait "$page" || fail "the page did not end in order"
}

# What the program prints and what its page answers, by the linter of the format.
try_metrics() {
    local page address
    open_page measured
    "${clean[@]}" "$programs/mirror-bot" status --metrics >"$scratch/status.prom"
    python3 -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1]).read())' \
        "$address/metrics" >"$scratch/page.prom"
    close_page
    lint_metrics "$scratch/status.prom"
    lint_metrics "$scratch/page.prom"
    sed -n 's/^# TYPE //p' "$scratch/status.prom" >"$scratch/types"
    sed -n 's/^# TYPE //p' "$scratch/page.prom" | diff "$scratch/types" - || fail "/metrics is not what status --metrics prints"
    # Of two mirrors, together and each by its name.
    "${clean[@]}" MIRROR=second "$programs/mirror-bot" train scheduler --from - >"$scratch/log" 2>&1 \
        <<<'{"id":"1","author":"a","text":"b","created_at":"2026-01-01T00:00:00Z"}'
    "${clean[@]}" "$programs/mirror-bot" status --metrics >"$scratch/totals.prom"
    "${clean[@]}" "$programs/mirror-bot" status --metrics --all >"$scratch/each.prom"
    lint_metrics "$scratch/totals.prom"
    lint_metrics "$scratch/each.prom"
    if grep 'mirror="' "$scratch/totals.prom"; then fail "a total names a mirror"; fi
    grep -q 'mirror="second"' "$scratch/each.prom" || fail "status --metrics --all does not name each mirror"
    if sed 's/_total/_sum/' "$scratch/page.prom" | promtool check metrics >/dev/null 2>&1; then
        fail "promtool takes a counter of another name"
    fi
}

lint_metrics() {
    grep -q '^mirrorbot_up 1$' "$1" || fail "$1 does not say that the database is there"
    promtool check metrics <"$1" || fail "promtool complains about $1"
}

# --- Reverse proxies --------------------------------------------------------------------------------------------------

# Each configuration that docs/web.md prints, in the real program: people log in through it, by name and by address, on
# another port than the usual one.
check_proxies() {
    local page address folder=$scratch/proxies password="correct horse battery"
    unpack caddy caddy
    mkdir -p "$folder"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=mirror.example.org -keyout "$folder/key.pem" \
        -addext subjectAltName=DNS:mirror.example.org,IP:127.0.0.1 -out "$folder/cert.pem" 2>/dev/null
    cat "$folder/cert.pem" "$folder/key.pem" >"$folder/page.pem"
    open_page behind WEB_PASSWORD="$password" WEB_HOSTS=mirror.example.org WEB_USER_HEADER=Remote-User
    python3 deploy/proxies.py docs/web.md "${address##*:}" "${password// /+}" "$folder" || fail "see above"
    close_page
}

# --- With what `make deb` has made ------------------------------------------------------------------------------------

# The newest file of .build/dist whose name fits.
made() {
    local path
    path=$(find .build/dist -maxdepth 1 -name "$1" -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
    [ -n "$path" ] || fail "$1 is not in .build/dist; \`make deb\` makes it"
    realpath "$path"
}

# Every library that the release links comes with a package that the image installs, by its name on Ubuntu 24.04.
check_libraries() {
    local library path package
    ldd "$built/mirror-bot" | awk '$2 == "=>" { print $1, $3 }' | while read -r library path; do
        case $library in
            libc.so.* | libm.so.* | libgcc_s.so.* | libstdc++.so.*) continue ;; # Of every image with Swift.
        esac
        [[ $path != */swift/linux/* ]] || continue
        # Only what the program itself asks for; what its libraries need, their packages need as well.
        readelf -d "$built/mirror-bot" | grep -qF "[$library]" || continue
        package=$(dpkg -S "$(realpath "$path")" | cut -d: -f1 | sed 's/t64$//; s/^libhiredis.*/libhiredis1.1.0/')
        grep -qE " $package(t64)?( |$)" Dockerfile || fail "the image lacks $package, which has $library"
    done
}

# Runs a command in a folder that is a system of its own, without anything of this one's environment. Its /proc, by which
# the loader knows where a program is, is gone with the command.
inside() {
    # shellcheck disable=SC2016  # The shell inside expands it.
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i "$@"' "$1" \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 "${@:2}"
}

# Makes a clean folder of a release of Debian at $2.
clean_system() {
    [ "$(id -u)" = 0 ] || fail "only root may make a folder of packages; run it with sudo"
    if [ ! -e "$build/$1.complete" ]; then
        rm -rf "${build:?}/$1"
        debootstrap --variant=minbase "$1" "$build/$1" http://deb.debian.org/debian >"$build/$1.log" || fail "see $build/$1.log"
        touch "$build/$1.complete"
    fi
    cp -a "$build/$1" "$2"
    cp /etc/resolv.conf "$2/etc/"
    inside "$2" apt-get update -q >/dev/null
}

install_inside() {
    inside "$1" apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "${@:2}" \
        >"$scratch/log" 2>&1 || { tail -20 "$scratch/log" >&2; fail "apt could not install ${*:2}"; }
}

# The program says its version and lives the sample person's day, whose hours are those of Tokyo, as it does here.
try_program() {
    inside "$1" "$2" --version | grep -qF "mirror-bot $3 (" || fail "$2 is not $3"
    inside "$1" env HOME=/tmp TIME_ZONE=Asia/Tokyo "$2" config >/dev/null || fail "$2 knows no time zones"
    inside "$1" env COLUMNS=80 "$2" demo --days 1 >"$scratch/there" 2>&1 || { cat "$scratch/there" >&2; fail "the demo failed"; }
    env -i HOME="$scratch" LANG=C.UTF-8 COLUMNS=80 PATH=/usr/bin:/bin "$built/mirror-bot" demo --days 1 >"$scratch/here" 2>&1 ||
        fail "the demo failed here"
    diff "$scratch/here" "$scratch/there" || fail "the demo is another one in the clean folder"
}

# The archive in clean systems, with nothing but the packages that it names.
check_dist() {
    local archive suite root version
    archive=$(made 'mirror-bot-*-linux-*.tar.gz')
    version=${archive##*/mirror-bot-} version=${version%%-linux-*}
    (cd .build/dist && sha256sum --check --quiet --ignore-missing SHA256SUMS)
    for suite in ${SUITES:-bookworm trixie}; do
        root=$scratch/dist-$suite
        clean_system "$suite" "$root"
        tar -C "$root/opt" --strip-components=1 -xzf "$archive"
        inside "$root" sh -c 'cd /opt && sha256sum --check --quiet SHA256SUMS'
        # shellcheck disable=SC2046  # Names of packages.
        install_inside "$root" $(sed -n 's/.*apt-get install //p' "$root/opt/README.txt")
        cp -r "$root"/opt/{bin,lib,share} "$root/usr/local/"
        try_program "$root" /usr/local/bin/mirror-bot "$version"
        rm -rf "$root"
    done
}

# The package by its linter, and its life in clean systems: installed, updated and purged, with all secrets.
check_deb() {
    local package version newer suite root left
    package=$(made 'mirror-bot_*_*.deb')
    version=$(dpkg-deb -f "$package" Version)
    lintian --fail-on error,warning "$package"
    newer=$scratch/newer.deb
    dpkg-deb -R "$package" "$scratch/newer" && sed -i 's/^Version:.*/&+next/' "$scratch/newer/DEBIAN/control"
    dpkg-deb -Znone --build "$scratch/newer" "$newer" >/dev/null
    for suite in ${SUITES:-bookworm trixie}; do
        root=$scratch/deb-$suite
        clean_system "$suite" "$root"
        cp "$package" "$root/tmp/first.deb" && cp "$newer" "$root/tmp/second.deb"
        install_inside "$root" /tmp/first.deb
        try_program "$root" /usr/bin/mirror-bot "$version"
        try_settings "$root"
        install_inside "$root" /tmp/second.deb
        grep -q '^TIME_ZONE=Asia/Tokyo' "$root/etc/mirror-bot/env" || fail "an update forgot the settings"
        [ -e "$root/var/lib/mirror-bot/mirror-bot.sqlite" ] || fail "an update forgot the data"
        inside "$root" apt-get purge -y -q mirror-bot >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "apt could not purge it"; }
        left=$(find "$root/etc" "$root/usr" "$root/var/lib" -path '*mirror-bot*' -not -path '*/dpkg/*')
        [ -z "$left" ] || fail "a purge leaves: $left"
        rm -rf "$root"
    done
}

# The settings of the service are those of commands that its user gives in its folder, and its data is there.
try_settings() {
    local as=(runuser -u mirror-bot -- env -C /var/lib/mirror-bot mirror-bot)
    echo TIME_ZONE=Asia/Tokyo >>"$1/etc/mirror-bot/env"
    inside "$1" "${as[@]}" config | grep -q 'TIME_ZONE.*Asia/Tokyo' || fail "the user mirror-bot does not read /etc/mirror-bot/env"
    inside "$1" "${as[@]}" train scheduler --from - <<<'{"id":"1","author":"a","text":"b","created_at":"2026-01-01T00:00:00Z"}' ||
        fail "the user mirror-bot cannot keep data"
    echo token >"$1/etc/mirror-bot/credentials/BOT_ACCESS_TOKEN"
    [ "$(stat -c %a "$1/var/lib/mirror-bot")" = 700 ] || fail "others can look into /var/lib/mirror-bot"
    [ "$(stat -c %a "$1/etc/mirror-bot/env")" = 640 ] || fail "others can read /etc/mirror-bot/env"
}

# --- The Procfile -----------------------------------------------------------------------------------------------------

# The processes under an ordinary runner, with an embedded database and a sandbox: both do their work, and TERM ends
# the worker in order. Once as most people deploy it, once with what the original button asked for, where the worker
# starts before anything is learned.
check_procfile() {
    local settings=$scratch/settings
    honcho check >/dev/null 2>&1 || fail "honcho cannot read the Procfile"
    # The runner starts a shell for each line, and TERM would end that one, whatever the program does.
    sed 's/^\([a-z]*\): */\1: exec /' Procfile >"$scratch/Procfile"
    try_procfile usual
    try_procfile button --network x --eight-keys
    [ "$(grep -c '_\(KEY\|SECRET\|TOKEN\)=' "$settings")" = 8 ] || fail "the button has other keys than eight"
    if grep -q '^TIME_ZONE\|NETWORK=' "$settings"; then fail "the button's form is not as empty as it was"; fi
}

# Lives the processes once, in a home called $1, with a sandbox that is told the rest.
try_procfile() {
    local network runner log=$scratch/$1.log
    rm -f "$settings"
    "$programs/Torture" sandbox --settings "$settings" --minutes 10 "${@:2}" &
    network=$!
    await 60 test -e "$settings"
    local clean=(env -i HOME="$scratch" MIRROR_BOT_HOME="$scratch/$1" PATH="$programs:$PATH" LANG=C.UTF-8)
    [ -z "${MECAB_DICTIONARY:-}" ] || clean+=("MECAB_DICTIONARY=$MECAB_DICTIONARY")
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" start release || fail "the Procfile's release failed"
    [ "$1" = usual ] || start_worker
    # The script that a platform runs once; honcho gives it the variables.
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" run bash -c "$(postdeploy)" || fail "app.json's postdeploy failed"
    [ "$1" != usual ] || start_worker
    wait "$network" || { tail -20 "$log" >&2; fail "the Procfile's worker did not post on the sandbox"; }
    # With all that a mirror measures once it has worked.
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" run mirror-bot status --metrics >"$scratch/$1.prom"
    unpack prometheus promtool && lint_metrics "$scratch/$1.prom"
    kill -TERM "$runner"
    wait "$runner" || true
    grep -q 'worker.1 stopped (rc=0)' "$log" || { tail -20 "$log" >&2; fail "TERM did not end the worker in order"; }
}

start_worker() {
    "${clean[@]}" honcho -f "$scratch/Procfile" -e "$settings" start worker >"$log" 2>&1 &
    runner=$!
}

postdeploy() { python3 -c 'import json; print(json.load(open("app.json"))["scripts"]["postdeploy"])'; }

prepare_tools
[ $# != 0 ] || set -- "${checks[@]}"
for check; do
    declare -F "check_$check" >/dev/null || fail "there is no check $check; expected: ${checks[*]}"
    echo "checking $check"
    "check_$check"
done
