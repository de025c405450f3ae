-- The states of an occasion, and what each event makes of each.
--
-- ARCHITECTURE.md has the same as a table, by which tests play random schedules.

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
--   armed       a device will show it by itself            refused    it was due, and something speaks against it
--   disarmed    no device will show it by itself any more  failed     it was due, and something did not work
--   denied      no device of the user may show anything    delivered  a device has shown it
--   off         its slot is off or gone                    opened     the user has opened it
create or replace function tacet.occasion_after(state text, event text)
returns text
language sql immutable
as $$
  select case event
    when 'rendered' then case when state in ('scheduled', 'armed', 'denied', 'cancelled') then 'scheduled' end
    when 'moved' then case when state in ('scheduled', 'armed') then 'scheduled' end
    when 'armed' then case when state in ('scheduled', 'armed') then 'armed' end
    when 'disarmed' then case when state in ('armed', 'shown') then 'scheduled' end
    when 'denied' then case when state in ('scheduled', 'armed') then 'denied' end
    when 'off' then case when state in ('scheduled', 'armed', 'denied') then 'cancelled' end
    when 'pushed' then case when state in ('scheduled', 'armed') then 'sent' end
    when 'shown' then case when state in ('scheduled', 'armed') then 'shown' end
    when 'refused' then case when state in ('scheduled', 'armed') then 'skipped' end
    when 'failed' then case when state in ('scheduled', 'armed') then 'failed' end
    when 'delivered' then case when state in ('sent', 'shown') then 'delivered' end
    when 'opened' then case when state in ('sent', 'delivered', 'shown') then 'opened' end
  end
$$;

-- What tacet.occasions has of a state.
create or replace function tacet.occasion_status(state text)
returns text
language sql immutable
as $$
  select case state when 'shown' then 'armed' when 'denied' then 'skipped' else state end
$$;

-- Whether a reason says that something did not work which should have, instead of that something speaks against a push.
create or replace function tacet.is_failure(reason text)
returns boolean
language sql immutable
as $$
  select reason in ('attempts_exhausted', 'campaign_unusable', 'material_failed', 'material_unreadable')
$$;
