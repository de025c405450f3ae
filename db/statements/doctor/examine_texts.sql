-- Returns the texts of kinds in other locales that no event can show as they were meant: the kind is not watched any more, or its own
-- texts have a column no more that the text has.

select
  t.kind, t.locale, k.kind is null as is_unwatched,
  (
    select p.part[1]
    from regexp_matches(
      concat_ws(
        ' ', t.title, t.subtitle, t.body, '{' || t.counted || '}',
        (select string_agg(w.value, ' ') from jsonb_each(t.plural) f, jsonb_each_text(f.value) w)),
      '\{([^{}]+)\}', 'g') as p (part)
    where not p.part[1] = any (k.placeholders) and (k.actor_column is null or p.part[1] <> 'actor')
    limit 1
  ) as missing_column
from tacet.texts t
left join tacet.kinds k on k.kind = t.kind
where t.kind not in ('tacet_new_message', 'tacet_new_notification', 'tacet_more')
order by 1, 2
limit 3000;
