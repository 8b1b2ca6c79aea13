#!/usr/bin/env bash
# Makes the Debian package .build/dist/mirror-bot_VERSION_ARCH.deb of what deploy/dist.sh has packed.
#
# Its maintainer is whom DEBFULLNAME and DEBEMAIL name.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "could not make the package: $*" >&2; exit 69; }
dist=$(find .build/dist -mindepth 1 -maxdepth 1 -type d -name "mirror-bot-*-linux-$(uname -m)" | sort -V | tail -1)
[ -n "$dist" ] || fail "nothing is packed; \`make dist\` does that"
version=$("$dist/bin/mirror-bot" --version | cut -d " " -f 2)
[[ $dist == *-$version-linux-* ]] || fail "$dist holds mirror-bot $version"
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} && export SOURCE_DATE_EPOCH
maintainer="${DEBFULLNAME:-mirror-bot maintainers} <${DEBEMAIL:-root@localhost}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/mirror-bot share=$work/mirror-bot/usr/share

copy_files() {
    mkdir -p "$root"/{DEBIAN,etc/mirror-bot,usr/lib/systemd/system} "$share"/{doc,lintian/overrides,zsh}
    cp -r "$dist/bin" "$root/usr/bin" && cp -r "$dist/lib/mirror-bot" "$root/usr/lib/mirror-bot"
    cp -r "$dist"/share/{man,bash-completion,fish,doc} "$share/"
    cp -r "$dist/share/zsh/site-functions" "$share/zsh/vendor-completions"
    rm -f "$share/doc/mirror-bot/LICENSE"
    # It is read by a shell, not run.
    sed -i '1{/^#!/d}' "$share/bash-completion/completions/mirror-bot"
    cp deploy/debian/mirror-bot{,-backup}.service deploy/debian/mirror-bot-backup.timer "$root/usr/lib/systemd/system/"
    cp deploy/debian/env "$root/etc/mirror-bot/env"
    install -d -m 700 "$root/etc/mirror-bot/credentials"
    cp deploy/debian/lintian-overrides "$share/lintian/overrides/mirror-bot"
    sed 's/^$/./; s/^/ /' LICENSE | cat deploy/debian/copyright <(sed -n 's/^\(Copyright.*\)/\nFiles: *\n\1/p' LICENSE |
        sed 's/^Copyright (c)/Copyright:/') <(echo "License: Expat") - >"$share/doc/mirror-bot/copyright"
    cat >"$share/doc/mirror-bot/changelog" <<TEXT
mirror-bot ($version) stable; urgency=medium

  * See /usr/share/doc/mirror-bot/CHANGELOG.md.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
TEXT
    gzip -9n "$share/doc/mirror-bot/changelog" "$share/man/man1/mirror-bot.1"
}

# What the package needs of others: the libraries that it does not hold, as their symbols tell.
dependencies() {
    mkdir -p "$work/debian" && printf 'Source: mirror-bot\n\nPackage: mirror-bot\nArchitecture: any\n' >"$work/debian/control"
    # It misses a version in the names of Swift's libraries, which have none.
    (cd "$work" && dpkg-shlibdeps --warnings=0 -O -lmirror-bot/usr/lib/mirror-bot mirror-bot/usr/{bin,lib/mirror-bot}/*) \
        2> >(grep -v "can't extract name" >&2) | sed 's/^shlibs:Depends=//'
}

write_control() {
    local name
    sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@MAINTAINER@/$maintainer/; s/@DEPENDS@/$(dependencies)/
        s/@SIZE@/$(du -ks --apparent-size "$root" | cut -f1)/" deploy/debian/control >"$root/DEBIAN/control"
    echo /etc/mirror-bot/env >"$root/DEBIAN/conffiles"
    for name in postinst prerm postrm; do install -m 755 "deploy/debian/$name" "$root/DEBIAN/$name"; done
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
}

copy_files
write_control
chmod -R go=rX "$root" && chmod 700 "$root/etc/mirror-bot/credentials" && chmod 640 "$root/etc/mirror-bot/env"
dpkg-deb --root-owner-group -Zxz -z2 --build "$root" "$work/made.deb" >/dev/null
mv "$work/made.deb" ".build/dist/mirror-bot_${version}_$architecture.deb"
echo "made .build/dist/mirror-bot_${version}_$architecture.deb"
