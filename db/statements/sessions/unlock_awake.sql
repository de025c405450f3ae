-- Says that the service needs to be notified again.

select pg_advisory_unlock(1952539493, 1);
