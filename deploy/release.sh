#!/usr/bin/env bash
# Makes what a release consists of, in .build/release-VERSION: the archive for machines without Swift, the Debian package,
# the source, and the sums of all of them.
#
# usage: deploy/release.sh check   says what speaks against a release, before anything is built
#        deploy/release.sh pack    collects what `make dist` and `make deb` have made; `make release` does all of it
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "could not make the release: $*" >&2; exit 69; }

version=$(sed -n 's/.*static let current = "\(.*\)"$/\1/p' Sources/Mirroring/Installation.swift)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "Sources/Mirroring/Installation.swift names no version"
commit=$(git rev-parse HEAD 2>/dev/null) || fail "a release is made of a commit, and this is no repository of git"

# A tree with changes makes another program than its commit, and a version has one program.
check() {
    local changes tagged
    changes=$(git status --porcelain)
    [ -z "$changes" ] || fail "there are changes that are not committed: $(head -3 <<<"$changes" | tr '\n' ' ')"
    grep -qE "^## \[${version//./\\.}\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
        fail "CHANGELOG.md has no heading '## [$version] - YYYY-MM-DD'; write one, or change the version"
    tagged=$(git rev-parse --verify --quiet "refs/tags/v$version^{commit}") || return 0
    [ "$tagged" = "$commit" ] || fail "v$version is the tag of another commit, ${tagged:0:7}; raise the version"
}

pack() {
    local dist=.build/dist target=.build/release-$version archive package
    archive=mirror-bot-$version-linux-$(uname -m).tar.gz
    package=mirror-bot_${version}_$(dpkg --print-architecture).deb
    for file in "$archive" "$package"; do [ -e "$dist/$file" ] || fail "$dist/$file is missing; \`make release\` makes it"; done
    # A program of an earlier build would be packed under the name of this commit.
    [ "$("$dist/${archive%.tar.gz}/bin/mirror-bot" --version)" = "mirror-bot $version (${commit:0:7})" ] ||
        fail "$dist/${archive%.tar.gz} was built from another commit; \`make release\` builds it anew"
    rm -rf "$target" && mkdir -p "$target"
    cp "$dist/$archive" "$dist/$package" "$target/"
    git archive --format=tar --prefix="mirror-bot-$version/" HEAD | gzip -n >"$target/mirror-bot-$version.tar.gz"
    (cd "$target" && sha256sum mirror-bot* >SHA256SUMS)
    echo "made $target of ${commit:0:7}:"
    sed 's/^/  /' "$target/SHA256SUMS"
    echo "next: git tag -s v$version -m 'mirror-bot $version' && git push origin v$version"
}

case ${1:-} in
check) check ;;
pack) check && pack ;;
*) sed -n '5,6s/^# //p' "$0" >&2 && exit 64 ;;
esac
