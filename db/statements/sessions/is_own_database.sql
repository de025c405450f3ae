-- Returns whether a session may work here; also true where no identity is recorded. And the types of the host's ids, as columns
-- of Tacet's tables have them: of messages, conversations, users and subjects.

select
  coalesce((select s.database_identity = tacet.database_identity() from tacet.settings s), true) as is_own,
  array(
    select coalesce(nullif(t.typelem, 0), t.oid)::bigint
    from (
      values
        (1, 'tacet.read_syncs', 'message_ids'), (2, 'tacet.inbox', 'conversation_id'), (3, 'tacet.deliveries', 'user_id'),
        (4, 'tacet.inbox', 'subject_id')
    ) as c (place, source, name)
    join pg_attribute a on a.attrelid = to_regclass(c.source) and a.attname = c.name
    join pg_type t on t.oid = a.atttypid
    order by c.place
  ) as id_types;
