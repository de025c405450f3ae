-- Keeps a second migrator waiting. Returns the database's encoding.

select current_setting('server_encoding') as encoding, pg_advisory_lock(1952539493, 2);
