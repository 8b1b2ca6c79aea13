#!/usr/bin/env bash
# Deploys mirror-bot as Heroku does, as far as that can be done elsewhere; `--help` says how, and what it cannot do.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: deploy/heroku/try.sh [option …]        (as root, on Debian or Ubuntu)

Builds the last commit with the real buildpacks in a clean folder that has the
packages of the stack's build image, starts what comes out in another one that
has those of its run image, beside a Postgres that takes only TLS and a Redis
that speaks only TLS, and ends with 0 when the mirror has posted on a sandbox.

  --apt-buildpack REPO     heroku/heroku-buildpack-apt: a folder or an address
  --swift-buildpack REPO   vapor-community/heroku-buildpack, likewise
  --base-images REPO       heroku/base-images, for its lists of packages
  --suite NAME             Debian or Ubuntu release of the folders (trixie,
                           whose packages are named as those of Ubuntu 24.04)
  --mirror URL             where its packages are (http://deb.debian.org/debian)
  --components A,B         of the mirror (main; for Ubuntu main,universe)
  --swift FOLDER           Swift's toolchain (that of `swift` on PATH)
  --github FOLDER          copies of Swift packages, as OWNER/NAME, to take
                           instead of https://github.com/ (none)
  --sandbox PROGRAM        what serves the sandbox (.build/debug/Torture)
  --slug FILE              do not build; start what an earlier try has built
  --work FOLDER            keep everything there, and use the stack's folders
                           again that are there (a new one that is removed)

What is not as on Heroku:
- The platform: its router, its add-ons, its limits of time and memory, and the
  form that app.json makes. The time that the build took is told, to be
  compared with the 15 minutes after which Heroku ends one.
- The packages are Debian's, unless Ubuntu is named: --suite noble --mirror
  http://archive.ubuntu.com/ubuntu --components main,universe. The names in the
  stack's lists that the suite lacks are told and left out.
- swiftly is not fetched from swift.org: a stand-in takes the place of the
  download and gives the toolchain of --swift. All else of the buildpacks is
  run as it is.
TEXT
}

root=$(cd "$(dirname "$0")/../.." && pwd)
apt_buildpack=https://github.com/heroku/heroku-buildpack-apt
swift_buildpack=https://github.com/vapor-community/heroku-buildpack
base_images=https://github.com/heroku/base-images
suite=trixie mirror=http://deb.debian.org/debian components=main
swift='' github='' sandbox='' slug='' work=''

say() { echo "==> $*"; }
fail() { echo "could not $*" >&2; exit "${code:-1}"; }

arguments=("$@")
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --apt-buildpack | --swift-buildpack | --base-images | --suite | --mirror | --components | --swift | --github | \
            --sandbox | --slug | --work)
            [ $# -ge 2 ] || code=64 fail "read the options: $1 needs a value"
            name=${1#--} && printf -v "${name//-/_}" %s "$2" && shift 2 ;;
        *) code=64 fail "read the options: $1 is unknown; see --help" ;;
    esac
done

[ "$(id -u)" = 0 ] || code=77 fail "make a folder of packages: only root may; run it with sudo"
# Mounts and processes of the try are seen by it alone, and end with it. So what is removed afterwards holds no mount.
if [ -z "${MIRROR_BOT_TRY:-}" ]; then
    kept=$work
    [ -n "$work" ] || work=$(mktemp -d)
    trap '[ -n "$kept" ] || rm -rf "$work"' EXIT
    MIRROR_BOT_TRY=1 unshare --mount --pid --fork --kill-child --mount-proc "$0" "${arguments[@]}" --work "$work"
    exit
fi
for tool in debootstrap git openssl python3 redis-server setpriv; do
    command -v "$tool" >/dev/null || code=69 fail "find $tool: \`make try-heroku\` installs it"
done
mkdir -p "$work" && work=$(cd "$work" && pwd)

# --- What app.json and Procfile say -----------------------------------------------------------------------------------

manifest() {
    python3 -c "import json, os, sys
app = json.load(open(sys.argv[1]))
$1" "$root/app.json" "${@:2}"
}
process() { sed -n "s/^$1: *//p" "$root/Procfile"; }
stack=$(manifest 'print(app["stack"])')

# --- The stack: a folder like the run image, and one like the build image on top of it --------------------------------

# Copies a repository, given as a folder or an address.
copy() {
    rm -rf "$2"
    git -c safe.directory='*' clone -q "$1" "$2" || code=69 fail "get $1"
}

# Runs a command in a folder that is a system of its own.
inside() { chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "${@:2}"; }

# Installs what a list of the stack names, as far as the suite has it.
install_list() {
    inside "$1" apt-cache pkgnames | sort >"$work/names"
    grep -v '^#' "$2" | sort >"$work/list"
    comm -23 "$work/list" "$work/names" >"$1.lacks"
    mount -t proc proc "$1/proc"
    comm -12 "$work/list" "$work/names" | inside "$1" xargs apt-get install -y -q --no-install-recommends \
        -o Dpkg::Options::=--force-unsafe-io >"$1.log" 2>&1 || fail "install the stack's packages; $1.log says why"
    umount "$1/proc"
    touch "$1.complete"
}

make_run() {
    [ ! -e "$work/run.complete" ] || return 0
    say "making a folder like $stack of $suite's packages"
    rm -rf "$work/run"
    # All releases of a distribution are made alike, and an older debootstrap does not know the names of newer ones.
    local script=sid
    case $mirror in *ubuntu*) script=gutsy ;; esac
    debootstrap --variant=minbase --components="$components" "$suite" "$work/run" "$mirror" "$script" >"$work/run.log" ||
        fail "make the folder; $work/run.log says why"
    cp /etc/resolv.conf /etc/hosts "$work/run/etc/"
    printf 'deb %s %s %s\n' "$mirror" "$suite" "${components//,/ }" >"$work/run/etc/apt/sources.list"
    printf '#!/bin/sh\nexit 101\n' >"$work/run/usr/sbin/policy-rc.d" && chmod +x "$work/run/usr/sbin/policy-rc.d"
    inside "$work/run" apt-get update -q >>"$work/run.log"
    inside "$work/run" useradd --uid 1000 --create-home --shell /bin/bash heroku
    install_list "$work/run" "$work/base-images/$stack/installed-packages-amd64.txt"
}

make_build() {
    [ ! -e "$work/build.complete" ] || return 0
    say "making a folder like $stack-build"
    rm -rf "$work/build"
    cp -a "$work/run" "$work/build"
    install_list "$work/build" "$work/base-images/$stack-build/installed-packages-amd64.txt"
}

# --- The build --------------------------------------------------------------------------------------------------------

# Runs a command in the build image as the platform's user; the home folder of a build is gone when a process starts.
building() {
    chroot --userspec=1000:1000 "$work/build" /usr/bin/env -i HOME=/tmp/home PATH=/usr/local/bin:/usr/bin:/bin \
        LANG=C.UTF-8 STACK="$stack" REQUEST_ID=try SOURCE_VERSION=try "$@"
}

# What the Swift buildpack downloads, and a curl that has it; all other addresses are the real one's.
make_stand_ins() {
    local here="$work/build/opt/stand-ins"
    rm -rf "$here" && mkdir -p "$here" "$work/build/opt/swift"
    cat >"$here/swiftly" <<'SCRIPT'
#!/bin/sh
set -e
home=$HOME/.local/share/swiftly
case $1 in
    init) mkdir -p "$home/bin" && cp "$0" "$home/bin/swiftly" &&
        echo "export PATH=$home/bin:/opt/swift/usr/bin:\$PATH" >"$home/env.sh" ;;
    install) for version; do case $version in [0-9]*) break ;; esac; done
        /opt/swift/usr/bin/swift --version 2>&1 | grep -q "version $version" ||
            { echo "the toolchain of --swift is not $version" >&2; exit 1; } ;;
    use) echo /opt/swift ;;
    *) echo "the stand-in knows no swiftly $1" >&2; exit 64 ;;
esac
SCRIPT
    chmod +x "$here/swiftly" && tar -C "$here" -czf "$here/swiftly.tar.gz" swiftly
    cat >"$work/build/usr/local/bin/curl" <<'SCRIPT'
#!/bin/sh
for word; do
    case $word in https://download.swift.org/swiftly/*) exec cp /opt/stand-ins/swiftly.tar.gz "$(basename "$word")" ;; esac
done
exec /usr/bin/curl "$@"
SCRIPT
    chmod +x "$work/build/usr/local/bin/curl"
    mount --bind "$swift" "$work/build/opt/swift" && mount -o remount,ro,bind "$work/build/opt/swift"
    rm -f "$work/build/etc/gitconfig"
    [ -n "$github" ] || return 0
    mkdir -p "$work/build/opt/github"
    mount --bind "$github" "$work/build/opt/github" && mount -o remount,ro,bind "$work/build/opt/github"
    printf '[url "/opt/github/"]\n\tinsteadOf = https://github.com/\n[safe]\n\tdirectory = *\n' >"$work/build/etc/gitconfig"
}

# The folders that a build is given: the commit's files, an empty cache, and the variables one a file.
make_build_folders() {
    rm -rf "$work/build/tmp/"*
    mkdir -p "$work/build/tmp/"{app,cache,env,home,buildpacks}
    git -c safe.directory='*' -C "$root" archive HEAD | tar -x -C "$work/build/tmp/app"
    manifest 'for name, variable in app["env"].items():
    if "value" in variable: open(os.path.join(sys.argv[2], name), "w").write(variable["value"])' "$work/build/tmp/env"
    cp -a "$work/buildpacks/." "$work/build/tmp/buildpacks/"
    chown -R 1000:1000 "$work/build/tmp/"*
}

# Each buildpack finds what the one before it has exported.
run_buildpack() {
    say "buildpack $1"
    # shellcheck disable=SC2016  # The shell inside expands it.
    building bash -c '
        set -e
        cd /tmp/home
        for export in /tmp/buildpacks/*/export; do [ ! -f "$export" ] || . "$export"; done
        "/tmp/buildpacks/$0/bin/detect" /tmp/app
        "/tmp/buildpacks/$0/bin/compile" /tmp/app /tmp/cache /tmp/env
        "/tmp/buildpacks/$0/bin/release" /tmp/app' "$1" || fail "build with $1"
}

build() {
    [ -n "$swift" ] || swift=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
    [ -x "$swift/usr/bin/swift" ] || code=69 fail "find Swift in \"$swift\": name its folder with --swift"
    mkdir -p "$work/buildpacks"
    copy "$apt_buildpack" "$work/buildpacks/1-apt"
    copy "$swift_buildpack" "$work/buildpacks/2-swift"
    mount -t proc proc "$work/build/proc" && mount --bind /dev "$work/build/dev"
    make_stand_ins
    make_build_folders
    # In the order of app.json; a test holds it to that.
    TIMEFORMAT="    took %0R s, and %0U + %0S s of processor time on $(nproc) cores"
    time { run_buildpack 1-apt && run_buildpack 2-swift; }
    slug=$work/slug.tgz
    tar -C "$work/build/tmp/app" -czf "$slug" .
    say "the slug has $(($(stat -c %s "$slug") / 1048576)) MB of the 500 MB that a slug may have"
}

# --- The run ----------------------------------------------------------------------------------------------------------

# Starts a command as the platform starts a process: dyno NAME FILE-WITH-VARIABLES COMMAND.
dyno() {
    local variables
    mapfile -t variables <"$2"
    # shellcheck disable=SC2016  # The shell inside expands it.
    exec chroot --userspec=1000:1000 "$work/run" /usr/bin/env -i HOME=/app DYNO="$1" PATH=/usr/local/bin:/usr/bin:/bin \
        LANG=en_US.UTF-8 "${variables[@]}" bash -c '
        cd /app
        for script in .profile.d/*.sh; do . "$script"; done
        exec bash -c "$0"' "$3"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Tells when a command has succeeded; it is tried for half a minute.
until_true() {
    for _ in $(seq 150); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.2
    done
    fail "wait any longer for: $*"
}

# A server of Postgres and one of Redis as the add-ons are: only TLS, and certificates that nobody vouches for.
start_servers() {
    local home=$work/servers tools port
    tools=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -1)
    [ -n "$tools" ] || code=69 fail "find Postgres: install it with \`make deps\`"
    rm -rf "$home" && mkdir -p "$home" && chown postgres "$home" && chmod 755 "$work"
    local postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    "${postgres[@]}" openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -keyout "$home/key.pem" -out "$home/cert.pem" 2>/dev/null
    "${postgres[@]}" "$tools/initdb" -D "$home/data" -U admin --auth=trust >/dev/null
    printf 'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n' >"$home/data/pg_hba.conf"
    port=$(free_port)
    "${postgres[@]}" "$tools/postgres" -D "$home/data" -c port="$port" -c listen_addresses=127.0.0.1 -c ssl=on \
        -c unix_socket_directories="$home" -c ssl_cert_file="$home/cert.pem" -c ssl_key_file="$home/key.pem" \
        >"$home/postgres.log" 2>&1 &
    sql=("$tools/psql" -h "$home" -p "$port" -U admin -qAt)
    until_true "${sql[@]}" -d postgres -c 'SELECT 1'
    "${sql[@]}" -d postgres -c "CREATE USER mirror PASSWORD 'secret'" -c 'CREATE DATABASE mirror OWNER mirror'
    # No sslmode, as in what the add-on sets.
    database_url=postgres://mirror:secret@127.0.0.1:$port/mirror
    port=$(free_port)
    redis-server --port 0 --tls-port "$port" --bind 127.0.0.1 --requirepass secret --save '' --dir "$home" \
        --tls-cert-file "$home/cert.pem" --tls-key-file "$home/key.pem" --tls-ca-cert-file "$home/cert.pem" \
        --tls-auth-clients no >"$home/redis.log" 2>&1 &
    redis=(redis-cli --tls --insecure --no-auth-warning -a secret -p "$port")
    until_true "${redis[@]}" ping
    redis_url=rediss://:secret@127.0.0.1:$port
}

# The variables that a new app has before anybody gave it an account.
write_variables() {
    printf '%s\n' "DATABASE_URL=$database_url" "REDIS_URL=$redis_url" "SECRET_KEY=$(openssl rand -hex 32)"
    manifest 'for name, variable in app["env"].items():
    if "value" in variable: print(name + "=" + variable["value"])'
}

# The first deployment of somebody who left the form empty: nothing fails, and it says what to set.
deploy_without_accounts() {
    write_variables >"$work/bare"
    say "no library is missing"
    if (dyno run.1 "$work/bare" 'ldd .swift-bin/mirror-bot') | grep 'not found'; then fail "start the program"; fi
    say "release: $(process release)"
    (dyno release.1 "$work/bare" "$(process release)") || fail "release"
    say "postdeploy, without an account"
    (dyno run.2 "$work/bare" "$(manifest 'print(app["scripts"]["postdeploy"])')") 2>&1 | tee "$work/advice" ||
        fail "finish the deployment"
    grep -q 'mirror-bot login' "$work/advice" || fail "read in it what to do next"
}

live() {
    local network worker status=0
    [ -n "$sandbox" ] || sandbox=$root/.build/debug/Torture
    [ -x "$sandbox" ] || code=69 fail "find $sandbox: make it with \`MIRROR_BOT_HARNESSES=1 swift build --product Torture\`, or name it with --sandbox"
    rm -f "$work/settings"
    # With what the original button asked for, and nothing else.
    "$sandbox" sandbox --network x --eight-keys --settings "$work/settings" --posts 2 --minutes 15 &
    network=$!
    until_true test -e "$work/settings"
    sort "$work/bare" "$work/settings" | awk -F= '!seen[$1]++' >"$work/whole"
    # The platform may start it first.
    say "worker: $(process worker)"
    (dyno worker.1 "$work/whole" "$(process worker)") &
    worker=$!
    say "postdeploy, with the accounts of a sandbox"
    (dyno run.3 "$work/whole" "$(manifest 'print(app["scripts"]["postdeploy"])')") || fail "train"
    wait "$network" || { kill -TERM "$worker"; fail "see a post on the sandbox"; }
    say "the slug's worker has posted on the sandbox; now the platform stops it"
    kill -TERM "$worker" && wait "$worker" || status=$?
    [ "$status" = 0 ] || fail "stop the worker in order: it ended with $status"
    say "Postgres holds $("${sql[@]}" -d mirror -c 'SELECT count(*) FROM posts') posts," \
        "Redis $("${redis[@]}" dbsize | tr -dc 0-9) keys; both were reached by TLS alone"
    [ "$("${redis[@]}" dbsize | tr -dc 0-9)" != 0 ] || fail "find the classifier's counts in Redis"
}

copy "$base_images" "$work/base-images"
make_run
if [ -z "$slug" ]; then make_build && build; fi
say "lacking in $suite, and left out: $(cat "$work"/*.lacks | sort -u | tr '\n' ' ')"
rm -rf "$work/run/app" && mkdir -p "$work/run/app"
tar -C "$work/run/app" -xzf "$slug" && chown -R 1000:1000 "$work/run/app"
mount -t proc proc "$work/run/proc" && mount --bind /dev "$work/run/dev"
start_servers
deploy_without_accounts
live
say "done, with the packages of $suite. Not tried: Heroku itself, its add-ons and limits, and swiftly's download"
