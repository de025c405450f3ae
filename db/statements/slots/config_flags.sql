-- Returns the flags of slot campaigns that differ from their defaults, as a JSON object.

select coalesce(jsonb_object_agg(f.name, f.value), '{}')::text as flags from tacet.notif_config f;
