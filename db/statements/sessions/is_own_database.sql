-- Returns whether a session may work here; also true where no identity is recorded.

select coalesce((select s.database_identity = tacet.database_identity() from tacet.settings s), true);
