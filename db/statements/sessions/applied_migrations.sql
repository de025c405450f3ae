-- Returns the migrations that were applied, and which service may run beside each.
--
-- As JSON, because a database from before migration 33 does not have all columns.

select m.version, (to_jsonb(m) ->> 'oldest_service')::int as oldest_service from tacet.migrations m order by m.version;
