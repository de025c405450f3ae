-- Returns the tables of the default host that functions of the contract read. A host with other tables has none of
-- these; a view has no indexes and triggers that could be missing.

select t.name
from unnest('{messages,conversation_participants,push_tokens,profiles,conversations}'::text[]) as t (name)
join pg_class c on c.oid = to_regclass('public.' || t.name) and c.relkind in ('r', 'p')
where exists (
  select
  from pg_proc p
  where p.pronamespace = (select n.oid from pg_namespace n where n.nspname = 'tacet')
    and p.prorettype <> 'trigger'::regtype and p.proname <> 'rehearse_message'
    and strpos(p.prosrc, 'public.' || t.name) > 0
);
