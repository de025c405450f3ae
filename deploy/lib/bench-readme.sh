# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench --readme: the table of the last measurement, into the README. Sourced; needs say.sh.

bench_table_begin='<!-- deploy/bench writes from here -->'
bench_table_end='<!-- to here -->'

write_readme_table() {
  local readme=$checkout/README.md table=$state/table.md new
  [[ -s $table ]] || die 'There is no measurement yet: deploy/bench makes one.'
  [[ $(grep -cFx -e "$bench_table_begin" -e "$bench_table_end" "$readme") == 2 ]] ||
    die "README.md has no place for the table: the lines '$bench_table_begin' and '$bench_table_end'."
  new=$(mktemp)
  awk -v begin="$bench_table_begin" -v end="$bench_table_end" -v table="$table" '
    $0 == end { isInside = 0 }
    !isInside { print }
    $0 == begin { isInside = 1; print ""; while ((getline line < table) > 0) print line; print "" }' "$readme" >"$new"
  cat "$new" >"$readme"
  rm -f "$new"
  say "README.md has the table of $(date -r "$table" '+%F %H:%M')."
}
