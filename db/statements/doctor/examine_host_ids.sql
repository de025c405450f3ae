-- Returns the types of ids that a host has, as far as its tables have the names of the default contract: uuid, bigint or text; null
-- for another type and for what is not there.

select
  max(t.type) filter (where t.kind = 'message') as messages,
  max(t.type) filter (where t.kind = 'conversation') as conversations,
  max(t.type) filter (where t.kind = 'user') as users
from (
  select distinct on (c.kind)
    c.kind,
    case
      when a.atttypid = 'uuid'::regtype then 'uuid'
      when a.atttypid in ('bigint'::regtype, 'int'::regtype, 'smallint'::regtype) then 'bigint'
      when a.atttypid in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) then 'text'
    end as type
  from (
    values
      (1, 'message', 'public.messages', 'id'), (2, 'conversation', 'public.conversations', 'id'),
      (3, 'conversation', 'public.messages', 'conversation_id'), (4, 'user', 'public.profiles', 'id'),
      (5, 'user', 'public.conversation_participants', 'user_id'), (6, 'user', 'public.messages', 'from_id')
  ) as c (place, kind, source, name)
  join pg_attribute a on a.attrelid = to_regclass(c.source) and a.attname = c.name and not a.attisdropped
  order by c.kind, c.place
) t;
