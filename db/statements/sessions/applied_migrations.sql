-- Returns the migrations that were applied, and which service may run beside each.
--
-- As JSON, because a schema from before the first release may lack a column.

select m.version, m.name, (to_jsonb(m) ->> 'oldest_service')::int as oldest_service from tacet.migrations m order by m.version;
