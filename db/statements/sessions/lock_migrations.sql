-- Keeps a second migrator waiting.

select pg_advisory_lock(1952539493, 2);
