-- Reads: marks, badges and the pushes that tell other devices.

-- Marks what a user has read in a conversation, a batch at a time, and queues the push to the user's other devices in the same
-- transaction.
--
-- takes_part: null when there is no such conversation. knows_message: whether up_to_message_id is one of its messages; apps may
-- show one that tacet.message_context leaves out.
-- read_count: messages marked; call again while it is 1000. badge: unread messages afterwards; null while there may be more.
-- sync_wait: as tacet.sync_read returns it.
call tacet.define($definition$
create or replace function tacet.read_conversation(
  conversation_id tacet.conversation_id, user_id tacet.user_id, up_to_message_id tacet.message_id, device_token text,
  is_synced boolean,
  out takes_part boolean, out knows_message boolean, out read_count bigint, out badge bigint, out sync_wait bigint
)
language plpgsql volatile
as $$
declare
  message_ids tacet.message_id[];
begin
  read_count := 0;
  takes_part := tacet.takes_part(read_conversation.conversation_id, read_conversation.user_id);
  knows_message := read_conversation.up_to_message_id is null or exists (
    select from tacet.message_context(read_conversation.up_to_message_id) m
    where m.conversation_id = read_conversation.conversation_id
  )
    or exists ( -- if messages.shown
      select from public.messages d -- if messages.shown
      where d.id = read_conversation.up_to_message_id -- if messages.shown
        and d.conversation_id = read_conversation.conversation_id -- if messages.shown
    ) -- if messages.shown
  ;
  if takes_part is not true or not knows_message then
    return;
  end if;
  message_ids := array(
    select r.id
    from tacet.mark_read(
      read_conversation.conversation_id, read_conversation.user_id, read_conversation.up_to_message_id
    ) with ordinality as r (id, place)
    order by r.place
  );
  read_count := cardinality(message_ids);
  if read_count > 0 and is_synced then
    sync_wait := tacet.sync_read(
      read_conversation.user_id, read_conversation.conversation_id, message_ids, read_conversation.device_token);
  end if;
  if read_count < 1000 then
    badge := tacet.unread_count(read_conversation.user_id);
  end if;
end
$$
$definition$);

-- Queues a push to a user's other devices about what was read; nothing without such a device. Returns the microseconds until
-- it may go, null without one.
--
-- There is at most one push in ten seconds for each user. Later reads are added to the one that waits, unless it is claimed,
-- so at most one waits, for at most that time. Its age counts from when it may go. The inbox row is updated without a change,
-- because a claim with an older snapshot then finds it moved and leaves it to the next claim, which sees the addition.
create or replace function tacet.sync_read(
  user_id tacet.user_id, conversation_id tacet.conversation_id, message_ids tacet.message_id[], device_token text
)
returns bigint
language plpgsql volatile
as $$
declare
  pending_id uuid;
  free_at timestamptz;
begin
  if not exists (
    select from tacet.push_targets(sync_read.user_id) d
    where tacet.target_mark(d.channel, d.address) <> coalesce(lower(sync_read.device_token), '')
  ) then
    return null;
  end if;
  -- One read of a user at a time, or two would not see each other's push. 1952539494 is next to the awake lock's number.
  perform pg_advisory_xact_lock(1952539494, hashtext(sync_read.user_id::text));

  update tacet.inbox i
  set available_at = i.available_at
  where i.kind = 'read_sync' and not i.is_claimed
    and i.subject_id = (
      select s.id::tacet.subject_id
      from tacet.read_syncs s
      where s.user_id = sync_read.user_id
      order by s.available_at desc
      limit 1
    )
  returning i.subject_id, i.available_at into pending_id, free_at;
  if found then
    update tacet.read_syncs s
    set
      conversation_id = case when s.conversation_id = sync_read.conversation_id then s.conversation_id end,
      message_ids = (s.message_ids || sync_read.message_ids)[cardinality(s.message_ids || sync_read.message_ids) - 89:],
      has_more = s.has_more or cardinality(s.message_ids || sync_read.message_ids) > 90,
      device_token = case when lower(s.device_token) = lower(sync_read.device_token) then s.device_token end
    where s.id = pending_id;
  else
    select greatest(clock_timestamp(), max(s.available_at) + interval '10 seconds') into free_at
    from tacet.read_syncs s
    where s.user_id = sync_read.user_id;
    with sync as (
      insert into tacet.read_syncs (available_at, user_id, conversation_id, message_ids, has_more, device_token)
      values (
        free_at, sync_read.user_id, sync_read.conversation_id,
        sync_read.message_ids[greatest(cardinality(sync_read.message_ids) - 89, 1):],
        cardinality(sync_read.message_ids) > 90, sync_read.device_token)
      returning id
    )
    insert into tacet.inbox (subject_id, kind, available_at, enqueued_at, conversation_id)
    select s.id, 'read_sync', free_at, free_at, sync_read.conversation_id from sync s;
  end if;
  return greatest(0, extract(epoch from free_at - clock_timestamp()) * 1000000)::bigint;
end
$$;

-- Queues the pushes that take deleted messages off the screens: for each conversation, in parts of ninety messages, one push to all
-- users to whom any of them was pushed in the last seven days. A message whose push may be under way is cleared after the ten
-- seconds that a push may take.
--
-- It runs in the host's transaction, so it writes a row for a conversation, and the service finds the users.
--
-- conversation_ids: of the messages, in the same order; null where it is not known.
create or replace function tacet.clear_messages(message_ids tacet.message_id[], conversation_ids tacet.conversation_id[])
returns void
language plpgsql volatile
as $$
begin
  with pushed as materialized (
    select
      m.message_id, m.conversation_id, m.place, w.is_under_way,
      row_number() over (partition by m.conversation_id, w.is_under_way order by m.place) as number
    from unnest(clear_messages.message_ids, clear_messages.conversation_ids)
      with ordinality as m (message_id, conversation_id, place)
    cross join lateral (
      select
        exists (select from tacet.inbox i where i.subject_id = m.message_id::tacet.subject_id and i.kind = 'message')
        or exists (select from tacet.deliveries d where d.subject_id = m.message_id::tacet.subject_id and d.kind = 'message')
          as is_under_way
    ) w
    where w.is_under_way or exists (
      select from tacet.push_log l
      where l.subject_id = m.message_id::tacet.subject_id and l.push_type = 'message' and l.decision = 'sent'
        and l.enqueued_at > now() - interval '7 days'
    )
  ), syncs as (
    insert into tacet.read_syncs (available_at, conversation_id, message_ids)
    select
      clock_timestamp() + case when p.is_under_way then interval '10 seconds' else '0' end, p.conversation_id,
      array_agg(p.message_id order by p.place desc)
    from pushed p
    group by p.conversation_id, p.is_under_way, (p.number - 1) / 90
    returning id, available_at, conversation_id
  )
  insert into tacet.inbox (subject_id, kind, available_at, enqueued_at, conversation_id)
  select s.id::tacet.subject_id, 'read_sync', s.available_at, s.available_at, s.conversation_id from syncs s;
  if found then
    perform tacet.wake(null);
  end if;
end
$$;

-- Moves users' marks to their first unread message, or to ten minutes ago, because a message is dated at the beginning of its
-- transaction and becomes visible later; to a day ago where messages are dated without a time zone. No mark is made where it would
-- pass over almost nothing. A mark is made anew after a day, which finds messages inserted with past dates.
--
-- A mark passes over at most ten thousand messages at a time, in a thousand of the user's conversations.
--
-- A deleted message is passed over. Does nothing when the host has replaced tacet.unread_count.
call tacet.define($definition$
create or replace function tacet.move_unread_marks(user_ids tacet.user_id[])
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if not tacet.counts_by_default() then
    return;
  end if;
  insert into tacet.unread_marks as k (user_id, conversation_id, read_until, built_at)
  select n.user_id, n.conversation_id, n.read_until, coalesce(n.built_at, clock_timestamp())
  from (
    select
      c.user_id, c.conversation_id, k.built_at, f.counted_from,
      least(
        now() - interval '10 minutes', -- unless messages.created_at_unzoned
        now() - interval '1 day', -- if messages.created_at_unzoned
        coalesce(
          (
            select m.created_at
            from (
              select
                columns(m), -- if messages.shown
                m.created_at, m.from_id, m.read_by
              from public.messages m
              where m.conversation_id = c.conversation_id and m.created_at >= f.counted_from
              order by m.created_at
              limit 10000
            ) m
            where m.from_id <> c.user_id and not (m.read_by @> array[c.user_id])
              and shown(m) -- if messages.shown
            limit 1
          ),
          (
            select m.created_at
            from public.messages m
            where m.conversation_id = c.conversation_id and m.created_at >= f.counted_from
            order by m.created_at
            offset 9999
            limit 1
          ))) as read_until
    from unnest(move_unread_marks.user_ids) as u (user_id)
    cross join lateral (
      select p.user_id, p.conversation_id
      from public.conversation_participants p
      where p.user_id = u.user_id
      limit 1000
    ) c
    left join lateral (
      select x.read_until, x.built_at
      from tacet.unread_marks x
      where x.user_id = c.user_id and x.conversation_id = c.conversation_id
        and x.built_at > now() - interval '1 day'
    ) k on true
    cross join lateral (select coalesce(k.read_until, '-infinity') as counted_from) f
    -- Most marks have no 16 messages to pass: the index says so, without a look at the messages.
    cross join lateral (
      select from public.messages m
      where m.conversation_id = c.conversation_id and m.created_at >= f.counted_from
      order by m.created_at
      offset 15
      limit 1
    ) enough
    order by c.user_id, c.conversation_id
  ) n
  where n.read_until > n.counted_from and 16 <= (
    select count(*)
    from (
      select from public.messages m
      where m.conversation_id = n.conversation_id and m.created_at >= n.counted_from and m.created_at < n.read_until
      limit 16
    ) passed
  )
  on conflict (user_id, conversation_id) do update
  set read_until = excluded.read_until, built_at = excluded.built_at;
end
$$
$definition$);

-- The badges of many users, in the order of their ids: for each what tacet.unread_count gives, for a part of an event with many
-- recipients. Null, which leaves the icon as it is, for those who were not counted within the time that other events can wait.
--
-- user_ids: in their order, each once.
--
-- A conversation of eight of them or more is read once for all. What is unread there came after the user's mark, less what the
-- user has written or read. Its newest messages are examined, until they have two megabytes of readers.
call tacet.define($definition$
create or replace function tacet.unread_counts(
  user_ids tacet.user_id[], time_max interval default '50 milliseconds'
)
returns bigint[]
language plpgsql stable
as $$
#variable_conflict use_column
declare
  ends_at timestamptz := clock_timestamp() + time_max;
  badge_max bigint := tacet.badge_max();
  counts bigint[] := array_fill(0::bigint, array[cardinality(user_ids)]);
  shared_ids tacet.conversation_id[] := '{}';
  shared record;
  counted record;
begin
  if not tacet.counts_by_default() then
    return array(
      select case when clock_timestamp() < ends_at then tacet.unread_count(u.user_id) end
      from unnest(user_ids) with ordinality as u (user_id, place)
      order by u.place);
  end if;
  for shared in
    select
      c.conversation_id, array_agg(c.user_id order by c.user_id) as members,
      array_agg(c.place order by c.user_id) as places,
      array_agg(c.counted_from - interval '1 microsecond' order by c.user_id) as passed
    from (
      select
        u.place, u.user_id, p.conversation_id,
        coalesce((
          select k.read_until
          from tacet.unread_marks k
          where k.user_id = p.user_id and k.conversation_id = p.conversation_id
        ), '-infinity') as counted_from
      from unnest(unread_counts.user_ids) with ordinality as u (user_id, place)
      cross join lateral (
        select p.user_id, p.conversation_id
        from public.conversation_participants p
        where p.user_id = u.user_id
          and present(p) -- if conversation_participants.shown
        limit 1000
      ) p
    ) c
    group by c.conversation_id
    having count(*) >= 8
  loop
    exit when clock_timestamp() >= ends_at;
    shared_ids := shared_ids || shared.conversation_id;
    for counted in
      with newest as materialized (
        select
          n.*, row_number() over () as number,
          sum(pg_column_size(n.read_by)) over (rows unbounded preceding) > 2097152 as is_beyond
        from (
          select
            columns(m), -- if messages.shown
            m.created_at, m.from_id, m.read_by
          from public.messages m
          where m.conversation_id = shared.conversation_id
            and m.created_at > (select min(p.moment) from unnest(shared.passed) as p (moment))
          order by m.created_at desc
          limit 10000
        ) n
      ), examined as materialized (
        select n.*
        from newest n
        where not n.is_beyond and n.from_id is not null and n.read_by is not null
          and shown(n) -- if messages.shown
      ), taken as materialized (
        select x.place, count(distinct x.number) as messages
        from (
          select e.number, e.created_at, a.user_id, width_bucket(a.user_id, shared.members) as place
          from examined e
          cross join lateral (select e.from_id union all select unnest(e.read_by)) as a (user_id)
        ) x
        where x.user_id = shared.members[x.place] and x.created_at > shared.passed[x.place]
        group by x.place
      )
      select
        p.place,
        case
          when p.passed < (select max(n.created_at) from newest n where n.is_beyond) then null
          else cardinality(t.times) - width_bucket(p.passed, t.times) - coalesce(k.messages, 0)
        end as messages
      from unnest(shared.places, shared.passed) with ordinality as p (place, passed, number)
      cross join (select array(select e.created_at from examined e order by e.created_at)) as t (times)
      left join taken k on k.place = p.number
    loop
      counts[counted.place] := counts[counted.place] + counted.messages;
    end loop;
  end loop;
  return array(
    select case
      when clock_timestamp() < ends_at and counts[u.place] is not null then
        least(badge_max, counts[u.place] + (select n.unread from tacet.count_unread(u.user_id, shared_ids) n))
    end
    from unnest(user_ids) with ordinality as u (user_id, place)
    order by u.place);
end
$$
$definition$);
