# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench --readme: writes the table of the last measurement into deploy/NUMBERS.md. Sourced; needs say.sh.

bench_table_begin='<!-- deploy/bench writes from here -->'
bench_table_end='<!-- to here -->'

write_readme_table() {
  local page=$checkout/deploy/NUMBERS.md table=$state/table.md new
  [[ -s $table ]] || die 'There is no measurement yet: deploy/bench makes one.'
  [[ $(grep -cFx -e "$bench_table_begin" -e "$bench_table_end" "$page") == 2 ]] ||
    die "deploy/NUMBERS.md has no place for the table: the lines '$bench_table_begin' and '$bench_table_end'."
  new=$(mktemp)
  awk -v begin="$bench_table_begin" -v end="$bench_table_end" -v table="$table" '
    $0 == end { isInside = 0 }
    !isInside { print }
    $0 == begin { isInside = 1; print ""; while ((getline line < table) > 0) print line; print "" }' "$page" >"$new"
  cat "$new" >"$page"
  rm -f "$new"
  say "deploy/NUMBERS.md has the table of $(date -r "$table" '+%F %H:%M')."
}
