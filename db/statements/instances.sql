-- Processes of the service, and how they are woken.

-- name: end_instance(instance_id text)
-- Says that a process is about to end.

update tacet.instances i
set seen_at = clock_timestamp(), stopped_at = clock_timestamp()
where i.id = :instance_id;

-- name: neighbours(host text)
-- Returns the processes of the service that have not said on a machine that they end: their numbers, and whether they have given a
-- sign of life in the last minute, as those may that have ended.

select i.pid, i.seen_at > clock_timestamp() - interval '1 minute' as is_recent
from tacet.instances i
where i.host = :host and (i.stopped_at is null or i.seen_at > clock_timestamp() - interval '1 minute')
order by i.seen_at desc;

-- name: lock_awake
-- Says that the service is awake: triggers that find the lock taken do not notify. Waits for transactions that are
-- about to notify. The lock ends with the session. Other processes are told, which own other conversations and have to poll for them
-- from now on.
--
-- Advisory locks have two integers; the first one is ours, `tace` in ASCII.

select pg_advisory_lock(1952539493, 1), pg_notify('tacet', 'shards');

-- name: unlock_awake
-- Says that the service needs to be notified again.

select pg_advisory_unlock(1952539493, 1);

-- name: renew_listening
-- Says for half a minute more that the service listens; triggers do not notify otherwise. Every listener says it every
-- few seconds; a row that was renewed just now is left alone.

update tacet.settings s
set listening_until = clock_timestamp() + interval '30 seconds'
where s.listening_until is null or s.listening_until < clock_timestamp() + interval '25 seconds';

-- name: send_probe(channel text, token text)
-- Sends what a listener must hear: a token on a channel of that listener, from another session. It waits for the disk,
-- as the host's commits do, so that it takes as long as their notifies.

select set_config('synchronous_commit', 'on', true), pg_notify(:channel, :token);

-- name: hold_shards(instance_id text, host text, process_id integer, version text, lease_us bigint)
-- Says that a process lives, renews its lease, and gives it its share of the shards; see tacet.hold_shards.

select h.shard as number, h.epoch, h.taken_us as taken_at, h.is_surplus, h.is_quiet
from tacet.hold_shards(:instance_id, :host, :process_id, :version, :lease_us) h;

-- name: give_up_shards(instance_id text, shards integer[])
-- Gives up shards of which nothing is under way.

select tacet.give_up_shards(:instance_id, :shards);
