#!/usr/bin/env bash
# Feeds broken inputs to every parser of outside data: libFuzzer, with the address sanitizer for the C libraries.
#
#   MINUTES  how long, all targets together; each gets an equal share (2)
#   TARGET   only this one
#   SEED     for libFuzzer's choices; another each time if not set
#
# What is found of interest stays in .build/fuzz/corpus and is where the next run goes on.
set -euo pipefail

cd "$(dirname "$0")/../.."
work=.build/fuzz
fuzz=$work/debug/Fuzz

echo "compiling all that is fuzzed, with the sanitizers; the first time takes some minutes"
# The linker wonders about each of the sanitizer's own symbols.
MIRROR_BOT_FUZZ=1 "${SWIFT:-swift}" build --quiet --sanitize fuzzer --sanitize address --scratch-path "$work" \
    --product Fuzz 2> >(grep -v "Cannot export local symbol" >&2)

# A crash is told by libFuzzer; Swift's own report would come before it and take seconds.
export SWIFT_BACKTRACE=enable=no
# ASAN_OPTIONS=detect_leaks=1 looks for lost memory too, where the system lets a process trace itself.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"

names=${TARGET:-$(ASAN_OPTIONS=detect_leaks=0 "$fuzz" --list)}
count=$(wc -w <<<"$names")
seconds=$(awk -v minutes="${MINUTES:-2}" -v count="$count" \
    'BEGIN { share = int(minutes * 60 / count); print share < 1 ? 1 : share }')
crashes=$(mktemp -d "${TMPDIR:-/tmp}/mirror-bot-fuzz.XXXXXX")
failed=0
echo "$count targets, $seconds seconds each"
for name in $names; do
    corpus=$work/corpus/$name
    ASAN_OPTIONS=detect_leaks=0 "$fuzz" --target="$name" --write-seeds="$corpus"
    mkdir -p "$corpus/found"
    log=$crashes/$name.log
    if "$fuzz" --target="$name" -dict="$corpus/words.dict" -max_total_time="$seconds" -max_len=4096 -timeout=30 \
        -rss_limit_mb=2048 -malloc_limit_mb=512 -seed="${SEED:-0}" -artifact_prefix="$crashes/$name-" \
        -print_final_stats=1 "$corpus/found" "$corpus/seeds" >"$log" 2>&1; then
        verdict="holds"
    else
        verdict="FAILED"
        failed=$((failed + 1))
    fi
    awk -v name="$name" -v verdict="$verdict" '
        /^stat::number_of_executed_units/ { runs = $2 }
        /^stat::average_exec_per_sec/ { rate = $2 }
        END { printf "%-18s %9d inputs %7d/s  %s\n", name, runs, rate, verdict }' "$log"
    if [ "$verdict" = FAILED ]; then
        grep -m 3 -E '^[a-z-]+: |not true|ERROR: |Fatal error' "$log" || tail -3 "$log"
        for input in "$crashes/$name"-*; do
            [ -e "$input" ] || continue
            echo "to see it again: SWIFT_BACKTRACE=enable=no $fuzz --target=$name $input"
        done
    else
        rm "$log"
    fi
done

if [ "$failed" -gt 0 ]; then
    echo "$failed of $count targets failed; the inputs are in $crashes" >&2
    exit 1
fi
rmdir "$crashes"
echo "all $count targets hold"
