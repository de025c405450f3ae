-- Says that the service is awake: triggers that find the lock taken do not notify. Waits for transactions that are
-- about to notify. The lock ends with the session.
--
-- Advisory locks have two integers; the first one is ours, `tace` in ASCII.

select pg_advisory_lock(1952539493, 1);
