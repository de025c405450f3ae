-- Makes events available that seem to come from the future because the clock was set back. Nobody has claimed them.
-- Pushes for later were enqueued before now, and read syncs are enqueued for later.

update tacet.inbox i
set available_at = now()
where not i.is_claimed and i.available_at > now() and (i.enqueued_at > now() or i.attempts > 0) and i.kind <> 'read_sync';
