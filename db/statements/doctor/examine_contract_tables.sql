-- Returns the tables of the default host that functions of the contract read. A host with other tables has none of
-- these; a view has no indexes and triggers that could be missing. Functions of campaigns do not count, and those that count for the
-- default of tacet.unread_count only where that is not replaced.

select t.name
from unnest('{messages,conversation_participants,push_tokens,profiles,conversations}'::text[]) as t (name)
join pg_class c on c.oid = to_regclass('public.' || t.name) and c.relkind in ('r', 'p')
where exists (
  select
  from pg_proc p
  where p.pronamespace = (select n.oid from pg_namespace n where n.nspname = 'tacet')
    and p.prorettype <> 'trigger'::regtype
    and p.proname not in (
      'rehearse_message', 'fit_triggers', 'check_in_audience', 'check_in_material', 'sessions_between', 'ritual_audience',
      'engagement_preferences')
    and (
      p.proname not in ('count_unread', 'unread_counts', 'move_unread_marks')
      or exists (
        select
        from pg_proc d
        where d.pronamespace = p.pronamespace and d.proname = 'unread_count' and strpos(d.prosrc, 'tacet.count_unread') > 0))
    and strpos(p.prosrc, 'public.' || t.name) > 0
);
