-- Returns the texts that the host has put in place of Tacet's own words, by locale and plural category.

select t.kind as name, t.locale, f.category, left(f.text, 256) as text
from tacet.texts t
cross join lateral (
  select 'other' as category, t.body as text
  union all
  select p.category, p.words ->> 'body' from jsonb_each(t.plural) as p (category, words)
) f
where t.kind in ('tacet_new_message', 'tacet_new_notification', 'tacet_more') and f.text <> ''
limit 1000;
