#!/usr/bin/env bash
# shellcheck disable=SC2054,SC2317 # a comma inside an option; functions that are handed to progressing
# Feeds the HTTP/1.1 connection with inputs that libFuzzer makes, guided by the code they reach, under the address
# sanitizer. Every input must keep what FuzzCheck asks for.
#
#   Tests/Runtime/HTTP1Fuzzing/fuzz.sh [--seconds N] [--inputs N] [--seed N] [options of libFuzzer]
#
# Stops after --seconds (60) or --inputs (no bound), whichever comes first. One seed repeats a run only from the same
# corpus: what has reached new code is kept in .build/http1-fuzzing/corpus from run to run; remove it to start from the
# seeds, which are the cases of HTTP1Tests. An input that breaks a rule lies in .build/http1-fuzzing/findings until the
# next run, and is to become a line of FuzzSource.swift. To look at one again, or to shorten it:
#
#   .build/http1-fuzzing/http1-fuzzing FILE
#   .build/http1-fuzzing/http1-fuzzing -minimize_crash=1 -max_total_time=60 FILE
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
# shellcheck source=deploy/lib/common/say.sh
source "$checkout/deploy/lib/common/say.sh"
cd "$checkout"

place=$checkout/.build/http1-fuzzing
seconds=60
inputs=-1
seed=$((RANDOM * 32768 + RANDOM + 1))
options=()

while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?} && shift 2 ;;
    --inputs) inputs=${2:?} && shift 2 ;;
    --seed) seed=${2:?} && shift 2 ;;
    -*=*) options+=("$1") && shift ;;
    *) die "not an option: $1" ;;
  esac
done

# As in Package.swift. Checks of preconditions, overflows and overlapping accesses stay in; so do assertions.
flags=(
  -O -assert-config Debug -enforce-exclusivity=checked -swift-version 6 -warnings-as-errors -parse-as-library -wmo
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
  -package-name tacet -sanitize=fuzzer,address
)

# compile MODULE FILE...: a module of the checkout, with the sanitizers in it.
compile() {
  local module=$1
  shift
  swiftc "${flags[@]}" -enable-testing -emit-library -static -emit-module -module-name "$module" \
    -emit-module-path "$place/$module.swiftmodule" -o "$place/lib$module.a" -I "$place" -I "$products/Modules" "$@"
}

# The one dependency comes from the ordinary build. Of HTTP1Tests, all that is no test itself is compiled in.
build() {
  local files
  swift build -c release --target HTTP1
  products=$(swift build -c release --show-bin-path)
  compile TestRandomness Tests/Support/TestRandomness/*.swift
  compile HTTP1 Sources/Runtime/HTTP1/*.swift
  mapfile -t files < <(grep -rL --include='*.swift' --exclude-dir=Serving '^import Testing' Tests/Runtime/HTTP1Tests Tests/Runtime/HTTP1Fuzzing)
  swiftc "${flags[@]}" -module-name HTTP1Fuzzing -o "$place/http1-fuzzing" -I "$place" -I "$products/Modules" \
    "${files[@]}" "$products"/HTTPTypes.build/*.o -L "$place" -lHTTP1 -lTestRandomness
}

run() {
  # Swift's backtraces would take minutes for each finding; libFuzzer prints what matters. Its time limit is by the clock
  # on the wall, and on a busy machine the process may rest for minutes.
  SWIFT_BACKTRACE=enable=no FUZZ_SEEDS=$place/seeds "$place/http1-fuzzing" -seed="$seed" -runs="$inputs" \
    -max_total_time="$seconds" -max_len=2048 -timeout=600 -report_slow_units=600 -rss_limit_mb=1024 \
    -print_final_stats=1 -dict=Tests/Runtime/HTTP1Fuzzing/http1.dict -artifact_prefix="$place/findings/" \
    "${options[@]}" "$place/corpus" "$place/seeds"
}

statistic() { sed -n "s/^stat::$1: *//p" "$place/run.log"; }

rm -rf "$place/seeds" "$place/findings"
mkdir -p "$place"/{corpus,seeds,findings}
progressing 'Building the fuzzer' "$place/build.log" build
status=0
progressing "Fuzzing with seed $seed for at most $seconds s" "$place/run.log" run || status=$?
findings=("$place"/findings/*)
[[ -e ${findings[0]} ]] || findings=()
headline "$(statistic number_of_executed_units) inputs ($(statistic average_exec_per_sec)/s), ${#findings[@]} findings"
grep -h 'Fatal error' "$place/run.log" || true
((${#findings[@]} == 0)) || say "${findings[@]}"
exit "$status"
