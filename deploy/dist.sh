#!/usr/bin/env bash
# Packs mirror-bot for machines without Swift: the program, Swift's libraries beside it, the manual page, completions,
# the unit of systemd and the licences of all of it, as .build/dist/mirror-bot-VERSION-linux-ARCH.tar.gz.
#
# usage: deploy/dist.sh [CONFIGURATION]     release, which `make dist` has built before, or debug
#
# What is not inside comes from the system; README.txt in it names the packages.
set -euo pipefail
cd "$(dirname "$0")/.."

built=.build/${1:-release}
program=$built/mirror-bot
fail() { echo "could not pack mirror-bot: $*" >&2; exit 69; }
[ -x "$program" ] || fail "$program is missing; \`make dist\` builds it"
command -v patchelf >/dev/null || fail "patchelf is missing; \`make dist\` installs it"

# Swift's library linked into a program knows no time zones, so it stays beside it. Of hiredis every release of Debian
# and Ubuntu has another one, which are no substitutes for each other.
is_ours() { [[ $1 == "$swift"/usr/lib/swift/linux/* || $1 == */libhiredis.so.* ]]; }

swift=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
version=$("$program" --version | cut -d " " -f 2)
# The same source makes the same archive.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} && export SOURCE_DATE_EPOCH
name=mirror-bot-$version-linux-$(uname -m)
root=.build/dist/$name
rm -rf "$root" && mkdir -p "$root"/{bin,lib/mirror-bot,lib/systemd/system,share/doc/mirror-bot/licenses}

pack_program() {
    local library path
    install -m 755 "$program" "$root/bin/mirror-bot"
    while read -r library path; do
        [ "$path" != not ] || fail "$program does not find $library"
        if is_ours "$path"; then install -m 644 "$path" "$root/lib/mirror-bot/$library"; fi
    done < <(ldd "$program" | awk '$2 == "=>" { print $1, $3 }')
    strip "$root/bin/mirror-bot" && strip --strip-unneeded "$root"/lib/mirror-bot/*
    # shellcheck disable=SC2016  # The loader knows what it means.
    patchelf --set-rpath '$ORIGIN/../lib/mirror-bot' "$root/bin/mirror-bot"
    # shellcheck disable=SC2016
    patchelf --set-rpath '$ORIGIN' "$root"/lib/mirror-bot/*
}

# What the program says of itself, for people and for shells.
pack_words() {
    local share=$root/share unit
    mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
    "$program" --experimental-dump-help |
        python3 deploy/manual.py "$version" "$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%B %-d, %Y')" \
            >"$share/man/man1/mirror-bot.1"
    "$program" --generate-completion-script bash >"$share/bash-completion/completions/mirror-bot"
    "$program" --generate-completion-script zsh >"$share/zsh/site-functions/_mirror-bot"
    "$program" --generate-completion-script fish >"$share/fish/vendor_completions.d/mirror-bot.fish"
    for unit in mirror-bot.service mirror-bot-backup.service mirror-bot-backup.timer; do
        sed 's,/usr/bin/,/usr/local/bin/,' "deploy/debian/$unit" >"$root/lib/systemd/system/$unit"
    done
    cp CHANGELOG.md .env.example "$share/doc/mirror-bot/"
    cp -r docs "$share/doc/mirror-bot/docs"
}

# The folder of the package that a linked module comes from, told by the list of its sources, or of C by its name.
package_of() {
    local path
    path=$(grep -o -m1 "/checkouts/[^/]*" "$built/$1.build/sources" 2>/dev/null) ||
        path=$(cd .build && find checkouts -mindepth 3 -maxdepth 3 -type d -path "*/Sources/$1" -print -quit)
    [ -n "$path" ] || fail "$1 is linked, and no package has it"
    echo ".build/checkouts/$(sed 's,^/*checkouts/,,; s,/.*,,' <<<"$path")"
}

# The names of the modules that were linked.
modules() { sed -n 's,.*/\([^/]*\)\.build/.*,\1,p' "$built/mirror-bot.product/Objects.LinkFileList" | sort -u; }

# Copies every licence and notice of a package, those of what it took from elsewhere as well.
pack_licenses_of() {
    local package=$1 file
    while read -r file; do
        install -D -m 644 "$package/$file" "$licenses/$(basename "$package")/$file"
    done < <(cd "$package" && find . -iregex '.*/\(LICENSE\|NOTICE\|COPYING\)[^/]*' -type f \
        -not -iname '*.swift' -not -ipath '*/tests/*' -not -ipath './documentation/*' -not -ipath './examples/*')
    [ -e "$licenses/$(basename "$package")" ] || fail "$package has no licence"
}

pack_licenses() {
    local licenses=$root/share/doc/mirror-bot/licenses module path packages=()
    cp LICENSE "$root/share/doc/mirror-bot/LICENSE"
    for module in $(modules); do
        if [ -d "Sources/$module" ]; then continue; fi
        packages+=("$(package_of "$module")")
    done
    [ ${#packages[@]} -gt 0 ] || fail "no list of what was linked is in $built"
    for path in $(printf '%s\n' "${packages[@]}" | sort -u); do pack_licenses_of "$path"; done
    install -D -m 644 "$swift/usr/share/swift/LICENSE.txt" "$licenses/swift/LICENSE.txt"
    # Foundation holds ICU; its licence is among Debian's, as is that of hiredis.
    for path in /usr/share/doc/libicu[0-9]*/copyright /usr/share/doc/libhiredis[0-9]*/copyright; do
        [ -e "$path" ] || fail "$path is missing: install the package"
        install -D -m 644 "$path" "$licenses/$(basename "$(dirname "$path")" | sed 's/[0-9.]*$//')/copyright"
    done
}

# The text beside the folders, and the sums of all files.
pack_readme() {
    cat >"$root/README.txt" <<TEXT
mirror-bot $version for Linux on $(uname -m), made on $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)

It needs of the system, which may be newer than that one:

    sudo apt-get install ca-certificates libarchive13 libcurl4 libmecab2 libpq5 libsqlite3-0 libssl3 mecab-ipadic-utf8 tzdata

To install it below /usr/local, and to see whether it works:

    sha256sum --check --quiet SHA256SUMS
    sudo cp -r bin lib share /usr/local/
    mirror-bot demo

share/doc/mirror-bot/docs tells how it is run, share/doc/mirror-bot/licenses what it is made of.
TEXT
    (cd "$root" && find [!S]* -type f -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
}

pack_program
pack_words
pack_licenses
pack_readme
cd .build/dist
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=go=rX -cf - "$name" |
    gzip -n >"$name.tar.gz"
sha256sum "$name.tar.gz" >SHA256SUMS
echo "made .build/dist/$name.tar.gz ($(($(stat -c %s "$name.tar.gz") / 1048576)) MB)"
