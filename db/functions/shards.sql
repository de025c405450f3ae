-- Who owns the conversations: sixteen shards, which the living processes of the service share.

-- The shard of an event or of what remains of one: a hash of its conversation, else of its subject. Messages of which no conversation is
-- known are of one shard. It is no column, because a generated one is set up anew in each insert of a host, for a tenth of what the
-- trigger costs.
create or replace function tacet.shard_of(kind text, subject_id tacet.subject_id, conversation_id tacet.conversation_id)
returns int
language sql immutable parallel safe
as $$
  select hashtext(coalesce(conversation_id::text, case when kind = 'message' then '' else subject_id::text end)) & 15
$$;

-- Says that a process lives, renews its lease, and gives it its share of the shards: those without an owner, and those of processes
-- whose lease is over, as many as it lacks. What such a process had leased becomes available at once. Returns the process's shards.
--
-- A change of owner waits for the disk: forgotten by a crash of the server, it would leave two owners. A forgotten renewal does no
-- harm, because a process counts a second less than its lease.
--
-- lease_us: how long the process stays their owner without another call. is_surplus: another process has too few; the owner gives the
-- shard up once nothing of it is under way. is_quiet: a process is awake and polls, so that triggers notify nobody.
create or replace function tacet.hold_shards(instance_id text, host text, process_id int, version text, lease_us bigint)
returns table (shard int, epoch bigint, taken_us bigint, is_surplus boolean, is_quiet boolean)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  moment timestamptz;
  place bigint;
  owners bigint;
  share int;
  owned int;
  taken int[];
  durable text;
  quiet boolean := not pg_try_advisory_xact_lock_shared(1952539493, 1);
begin
  -- One process at a time, so that two do not take the same share.
  perform pg_advisory_xact_lock(1952539493, 4);
  moment := clock_timestamp();
  insert into tacet.instances as i (id, host, pid, version, lease_until)
  values (
    hold_shards.instance_id, hold_shards.host, hold_shards.process_id, hold_shards.version,
    moment + hold_shards.lease_us * interval '1 microsecond')
  on conflict (id) do update set seen_at = moment, stopped_at = null, lease_until = excluded.lease_until;
  select count(*), count(*) filter (where i.id < hold_shards.instance_id) into owners, place
  from tacet.instances i
  where i.stopped_at is null and i.lease_until > moment;
  share := 16 / greatest(owners, 1) + (place < 16 % greatest(owners, 1))::int;
  select count(*) into owned from tacet.shards s where s.owner = hold_shards.instance_id;
  if owned < share then
    with free as (
      select s.shard, s.owner is not null as is_left
      from tacet.shards s
      where s.owner is distinct from hold_shards.instance_id
        and not exists (
          select from tacet.instances i where i.id = s.owner and i.stopped_at is null and i.lease_until > moment)
      order by s.shard
      limit share - owned
      for update of s
    ), taken as (
      update tacet.shards s
      set owner = hold_shards.instance_id, epoch = s.epoch + 1, taken_at = moment
      from free f
      where s.shard = f.shard
      returning s.shard, f.is_left
    )
    select array_agg(t.shard) filter (where t.is_left), set_config('synchronous_commit', 'on', true)
    into taken, durable
    from taken t
    having count(*) > 0;
    if taken is not null then
      update tacet.inbox i
      set available_at = moment
      where i.is_claimed and i.available_at > moment and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (taken);
      update tacet.deliveries d
      set due_at = moment
      where d.is_claimed and d.due_at > moment and tacet.shard_of(d.kind, d.subject_id, d.conversation_id) = any (taken);
    end if;
  end if;
  return query
    select
      s.shard, s.epoch, tacet.unix_us(s.taken_at), row_number() over (order by s.shard) > share, quiet
    from tacet.shards s
    where s.owner = hold_shards.instance_id
    order by s.shard;
end
$$;

-- Gives up shards of a process of which nothing is under way, for others to take, and asks these to. With the last one its lease ends,
-- so that the others share all of them.
create or replace function tacet.give_up_shards(instance_id text, shards int[])
returns void
language plpgsql volatile
as $$
begin
  update tacet.shards s
  set owner = null
  where s.owner = give_up_shards.instance_id and s.shard = any (give_up_shards.shards);
  if found then
    update tacet.instances i
    set lease_until = clock_timestamp()
    where i.id = give_up_shards.instance_id
      and not exists (select from tacet.shards s where s.owner = give_up_shards.instance_id);
    perform pg_notify('tacet', 'shards');
  end if;
end
$$;
