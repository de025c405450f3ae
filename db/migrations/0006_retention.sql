-- Retention, and tables that stay in shape: what the pruner needs, and how the ledger is kept with hundreds of millions
-- of rows.
--
-- Locks: CREATE INDEX on push_log keeps its writers waiting while it is built, and push_log is written by the service
-- alone; on a large ledger build it beforehand, with CONCURRENTLY and under the same name. SET DEFAULT takes ACCESS
-- EXCLUSIVE for an instant. Storage parameters take SHARE UPDATE EXCLUSIVE, which nobody but vacuum waits for.

-- The pruner walks it from its old end. Times grow, so it only ever grows on its right side and stays dense.
create index if not exists push_log_enqueued_idx on public.push_log (enqueued_at);
create index if not exists parked_parked_idx on tacet.parked (parked_at);
create index if not exists trigger_failures_failed_idx on tacet.trigger_failures (failed_at);

-- A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then random bits. Ids of one moment stand side by
-- side in the primary key, where random ones would each dirty a page of their own. overlay leaves the version digit of a
-- random UUID, which is 4; setting two bits makes it 7. An expression and not a function, because whoever may insert
-- would need a right on a function too.
alter table public.push_log alter column id set default encode(
  set_bit(
    set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1),
    53, 1),
  'hex')::uuid;

-- The ledger is appended to at one end and pruned at the other. The defaults would let a fifth of it die before a vacuum;
-- a vacuum reads every index in full, so it should not come for every percent either. Inserts alone make it visit new
-- pages only, and freeze them before an emergency has to.
alter table public.push_log set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000
);

-- A vacuum that gives the empty end of a table back to the disk locks everybody out for that time, the host's insert
-- first of all. What is freed here is used again at once. They are small, so a vacuum need not pause to be polite.
alter table tacet.inbox set (vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0);
alter table tacet.deliveries set (vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0);
alter table tacet.trigger_failures set (vacuum_truncate = off);

insert into tacet.migrations (version, name) values (6, '0006_retention') on conflict do nothing;
