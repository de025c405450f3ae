-- Which database this is, and who may migrate it.

-- name: database_identity
-- Returns which database the settings were written in, and which one this is. No row where row-level security hides it.

select s.database_identity as noted, tacet.database_identity() as actual from tacet.settings s;

-- name: is_own_database
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

-- name: adopt_database(keeps_waiting boolean)
-- Makes the database this service's own.

select a.what, a.dropped from tacet.adopt_database(:keeps_waiting) a;

-- name: has_migrations
-- Returns whether any migration was ever applied. A table of this name alone is the host's.

select to_regclass('tacet.migrations') is not null and to_regclass('tacet.host_additions') is not null;

-- name: has_pushed
-- Returns whether anything was pushed or waits: then the types of ids stay.

select exists (select from tacet.push_log) or exists (select from tacet.inbox) or exists (select from tacet.deliveries)
  or exists (select from tacet.occasions) or exists (select from tacet.pushes);

-- name: applied_migrations
-- Returns the migrations that were applied, and which service may run beside each.
--
-- As JSON, because a schema from before the first release may lack a column.

select m.version, m.name, (to_jsonb(m) ->> 'oldest_service')::int as oldest_service from tacet.migrations m order by m.version;

-- name: lock_migrations
-- Keeps a second migrator waiting. Returns the database's encoding.

select current_setting('server_encoding') as encoding, pg_advisory_lock(1952539493, 2);

-- name: record_checksums(versions integer[], texts text[])
-- Records the texts of migrations that were applied now.

update tacet.migrations m
set checksum = md5(f.text)
from unnest(:versions, :texts) as f (version, text)
where f.version = m.version;
