-- The states of an occasion, and what each event makes of each.
--
-- OccasionModelTests has the same as a table, and plays random schedules by it.

-- The state of an occasion. shown: the devices show it without a push. denied: no device may show it, and its time is to come.
create or replace function tacet.occasion_state(occasion tacet.occasions)
returns text
language sql stable
as $$
  select case
    when occasion.status = 'armed' and occasion.available_at = 'infinity' then 'shown'
    when occasion.status = 'skipped' and occasion.reason = 'permission_denied' and occasion.fire_at > now() then 'denied'
    else occasion.status
  end
$$;

-- The state after an event; null for an event that changes nothing.
--
--   rendered    its words or its time are new              pushed     it was due, and its push is queued
--   moved       its user's clock is another                shown      it was due, and devices show it without a push
--   armed       a device will show it by itself            refused    it was due, or queued, and something speaks against it
--   disarmed    no device will show it by itself any more  failed     it was due, or queued, and something did not work
--   denied      no device of the user may show anything    recalled   it was queued, and its push is taken back
--   off         its slot is off or gone, or its campaign   delivered  a device has shown it
--                                                          opened     its time has come, and the user has opened it
create or replace function tacet.occasion_after(state text, event text)
returns text
language sql immutable
as $$
  select case event
    when 'rendered' then case when state in ('scheduled', 'armed', 'denied', 'cancelled') then 'scheduled' end
    when 'moved' then case when state in ('scheduled', 'armed') then 'scheduled' when state = 'denied' then 'denied' end
    when 'armed' then case when state in ('scheduled', 'armed') then 'armed' end
    when 'disarmed' then case when state in ('armed', 'shown') then 'scheduled' end
    when 'denied' then case when state in ('scheduled', 'armed') then 'denied' end
    when 'off' then case when state in ('scheduled', 'armed', 'denied') then 'cancelled' end
    when 'pushed' then case when state in ('scheduled', 'armed') then 'sent' end
    when 'shown' then case when state in ('scheduled', 'armed') then 'shown' end
    when 'refused' then case when state in ('scheduled', 'armed', 'sent') then 'skipped' end
    when 'failed' then case when state in ('scheduled', 'armed', 'sent') then 'failed' end
    when 'recalled' then case when state = 'sent' then 'cancelled' end
    when 'delivered' then case when state in ('sent', 'shown') then 'delivered' end
    when 'opened' then case when state in ('scheduled', 'armed', 'shown', 'sent', 'delivered') then 'opened' end
  end
$$;

-- What tacet.occasions has of a state.
create or replace function tacet.occasion_status(state text)
returns text
language sql immutable
as $$
  select case state when 'shown' then 'armed' when 'denied' then 'skipped' else state end
$$;

-- The trigger on the ledger: an occasion whose push was not sent is none that was. One that a shadow has withheld is, as the
-- service that it shadows would have it.
create or replace function tacet.note_unsent()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  event text := case when new.reason = 'cancelled' then 'recalled' when new.decision = 'failed' then 'failed' else 'refused' end;
begin
  update tacet.occasions d
  set
    status = tacet.occasion_status(tacet.occasion_after(tacet.occasion_state(d), event)), reason = new.reason,
    changed_at = clock_timestamp()
  where d.user_id = new.user_id and d.push_id = tacet.row_of(new.subject_id)
    and tacet.occasion_after(tacet.occasion_state(d), event) is not null;
  return null;
end
$$;

-- Takes the push of an occasion from the inbox, if the pipeline has not taken it yet, and notes it in the ledger.
create or replace function tacet.recall_push(push_id uuid, user_id tacet.user_id)
returns void
language sql volatile
as $$
  with recalled as (
    delete from tacet.inbox i
    where i.subject_id = tacet.subject_of(recall_push.push_id) and not i.is_claimed
    returning i.enqueued_at, i.subject_id, i.kind
  )
  insert into tacet.push_log (enqueued_at, user_id, subject_id, push_type, decision, reason)
  select r.enqueued_at, recall_push.user_id, r.subject_id, r.kind, 'skipped', 'cancelled' from recalled r
$$;
