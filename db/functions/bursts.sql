-- Bursts of messages: which push sounds, which updates the notification that is shown, and which is not needed.

-- Decides messages that the suppression rules let go, each for one recipient, and keeps the books of their bursts. Arrays of one
-- length; times in microseconds. The model in PushStoreTests has the same rules: keep both the same.
--
-- - The first message sounds. What follows within the window updates its notification, by the collapse identifier of the first.
-- - What is on the screen never becomes older. Pushes with one collapse identifier may overtake each other, so an update goes
--   only when the ledger has the push before it: a row of that claim or a later one.
-- - A message that a newer one has overtaken does not sound while that one is on its way, for another window at the most.
-- - A mention begins a new burst. So does the next message when the first one's push was put off or has failed, unless that was a
--   mention within the window of another sound.
-- - Rows are locked in the order of their keys, so that two processes cannot wait for each other.
-- - Messages are counted by hashes of their ids, so that one that asks again is counted once. What the recipient has seen counts
--   no more. Of the bursts before, a message that an update has counted is not counted again.
-- - The newest message that waits takes the update; when it does not come for it, another one takes it a moment later.
--
-- looked_us: when the recipient last looked; null for unknown. attempts: of the claims, by which their records are known.
-- at: for tests; the clock's time without it.
--
-- place: of the message in the arrays. verdict: sound, update, wait or fold. more: messages of the burst besides the one shown.
-- due_us: when a message that waits is decided again.
create or replace function tacet.fold_messages(
  subject_ids tacet.subject_id[], user_ids tacet.user_id[], surface_ids tacet.conversation_id[], enqueued_us bigint[],
  looked_us bigint[], attempts int[], window_us bigint, settle_us bigint, at timestamptz default null
)
returns table (place bigint, verdict text, first_subject tacet.subject_id, more int, due_us bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  asked record;
  burst tacet.bursts;
  moment timestamptz;
  ends_at timestamptz;
  patient_until timestamptz;
  settle interval := fold_messages.settle_us * interval '1 microsecond';
  state text;
  mark int;
  is_older boolean;
  is_free boolean;
  is_newest boolean;
  mentions boolean;
begin
  for asked in
    select
      a.place, a.subject_id, a.user_id, a.surface_id, least(a.attempts, 32767) as attempts,
      timestamptz 'epoch' + a.enqueued_us * interval '1 microsecond' as enqueued_at,
      timestamptz 'epoch' + a.looked_us * interval '1 microsecond' as looked_at,
      lead(a.place) over (partition by a.user_id, a.surface_id order by a.enqueued_us, a.subject_id) is null as is_newest
    from unnest(
      fold_messages.subject_ids, fold_messages.user_ids, fold_messages.surface_ids, fold_messages.enqueued_us,
      fold_messages.looked_us, fold_messages.attempts
    ) with ordinality as a (subject_id, user_id, surface_id, enqueued_us, looked_us, attempts, place)
    order by a.user_id, a.surface_id, a.enqueued_us, a.subject_id
  loop
    place := asked.place;
    mark := hashtext(asked.subject_id::text);
    due_us := null;
    loop
      select b.* into burst
      from tacet.bursts b
      where b.user_id = asked.user_id and b.surface_id = asked.surface_id
      for update;
      exit when found;
      insert into tacet.bursts (
        user_id, surface_id, sounded_at, first_subject, latest_subject, latest_at, newest_at, latest_attempts, members)
      values (
        asked.user_id, asked.surface_id, coalesce(fold_messages.at, clock_timestamp()), asked.subject_id, asked.subject_id,
        asked.enqueued_at, asked.enqueued_at, asked.attempts, array[mark])
      on conflict do nothing;
      exit when found;
    end loop;
    if burst is null then
      verdict := 'sound';
      first_subject := asked.subject_id;
      more := 0;
      return next;
      continue;
    end if;

    moment := coalesce(fold_messages.at, clock_timestamp());
    ends_at := burst.sounded_at + fold_messages.window_us * interval '1 microsecond';
    is_older := (asked.enqueued_at, asked.subject_id) < (burst.latest_at, burst.latest_subject);
    verdict := null;
    mentions := false;
    burst.newest_at := greatest(burst.newest_at, asked.enqueued_at);

    if asked.subject_id = burst.latest_subject then
      -- The push that was handed over last asks again, because it was put off, or its process died.
      burst.latest_attempts := asked.attempts;
      if moment >= ends_at then
        verdict := 'begin';
      elsif asked.subject_id = burst.first_subject then
        verdict := 'sound';
        burst.sounded_at := moment;
      else
        verdict := 'update';
      end if;
    else
      mentions := mark <> all (burst.members) and (is_older or moment < ends_at)
        and tacet.is_mentioned(tacet.message_of(asked.subject_id), asked.user_id) is true;
      state := coalesce((
        select
          case
            when l.attempts < burst.latest_attempts then 'in_flight'
            when l.decision = 'sent' or l.reason = 'shadow' then 'sent'
            when l.decision = 'held' then 'waits'
            else 'gone'
          end
        from tacet.push_log l
        where l.subject_id = burst.latest_subject and l.user_id = burst.user_id and l.push_type = 'message'
      ), 'in_flight');
      if mentions then
        -- Behind a newer message it sounds beside the burst, whose notification shows that.
        verdict := case when is_older then 'sound' else 'begin' end;
      elsif is_older and state <> 'gone' then
        if state = 'sent' then
          verdict := 'fold';
        else
          -- The newer one says more, so it has another window to be decided in.
          patient_until := case when moment < ends_at then ends_at else ends_at + (ends_at - burst.sounded_at) end;
          if moment < patient_until then
            verdict := 'wait';
            due_us := case when state = 'waits' then extract(epoch from patient_until)
              else extract(epoch from least(moment + settle, patient_until)) end * 1000000;
          end if;
        end if;
      end if;
      if verdict is null and (
        moment >= ends_at
        or burst.latest_subject = burst.first_subject and state in ('gone', 'waits') and not burst.is_mention)
      then
        verdict := 'begin';
      end if;
      if verdict is distinct from 'begin' and verdict is distinct from 'sound' then
        if asked.looked_at > burst.latest_at then
          burst.members := '{}';
          burst.told := 0;
        end if;
        if cardinality(burst.members) < 100 and mark <> all (burst.members)
          and (verdict is null or mark <> all (burst.counted_before))
        then
          burst.members := burst.members || mark;
        end if;
      end if;
      if verdict is null then
        -- Rather now than with a sound after the window.
        is_free := state <> 'in_flight' and not (state = 'waits' and burst.latest_subject = burst.first_subject)
          and (burst.update_at <= moment or ends_at - moment <= settle) is true;
        is_newest := asked.is_newest
          and (asked.enqueued_at = burst.newest_at or burst.update_at + settle <= moment or ends_at - moment <= settle);
        if is_free and not is_newest then
          -- A newer one takes the update.
          verdict := 'wait';
          due_us := extract(epoch from least(moment + settle, ends_at)) * 1000000;
        elsif is_free then
          verdict := 'update';
          burst.latest_subject := asked.subject_id;
          burst.latest_at := asked.enqueued_at;
          burst.latest_attempts := asked.attempts;
          burst.update_at := null;
          burst.told := cardinality(burst.members);
        else
          verdict := 'wait';
          if (burst.update_at > moment) is not true then
            burst.update_at := least(moment + settle, ends_at);
          end if;
          due_us := extract(epoch from burst.update_at) * 1000000;
        end if;
      end if;
    end if;

    if verdict = 'begin' then
      verdict := 'sound';
      burst.is_mention := moment < ends_at and mentions;
      burst.sounded_at := moment;
      burst.first_subject := asked.subject_id;
      burst.latest_subject := asked.subject_id;
      burst.latest_at := asked.enqueued_at;
      burst.newest_at := asked.enqueued_at;
      burst.latest_attempts := asked.attempts;
      burst.update_at := null;
      burst.counted_before := (burst.members[1:burst.told] || burst.counted_before)[1:100];
      burst.members := array[mark];
      burst.told := 0;
    end if;
    first_subject := case when verdict = 'sound' then asked.subject_id else burst.first_subject end;
    more := greatest(cardinality(burst.members) - 1, 0);
    update tacet.bursts b
    set
      sounded_at = burst.sounded_at, is_mention = burst.is_mention, latest_at = burst.latest_at, newest_at = burst.newest_at,
      update_at = burst.update_at, counted_before = burst.counted_before,
      latest_attempts = burst.latest_attempts, first_subject = burst.first_subject,
      latest_subject = burst.latest_subject, members = burst.members, told = burst.told
    where b.user_id = burst.user_id and b.surface_id = burst.surface_id;
    return next;
  end loop;
end
$$;
