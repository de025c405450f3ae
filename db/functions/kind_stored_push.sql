-- The kind stored_push: what a server asks for by POST /v1/pushes, and what a campaign has written for one user; see
-- tacet.commit_occasions. Its events have names that the server chooses, or the push types of campaigns.

-- Whether what the push of a slot reminds of was done since it was put off. Where that cannot be told, the user is reminded.
create or replace function tacet.is_done(push tacet.pushes)
returns boolean
language plpgsql stable
as $$
begin
  return tacet.campaign_material(push.campaign, push.user_id) ->> 'skip' is not null;
exception
  when others then
    raise warning 'tacet: cannot tell whether a reminder of campaign % is needed: % (%)', push.campaign, sqlerrm, sqlstate;
    return false;
end
$$;

-- The devices of a user that may show nothing, separated by spaces; null for none.
create or replace function tacet.denied_devices(user_id tacet.user_id)
returns text
language sql stable
as $$
  select string_agg(m.device_token, ' ') from tacet.device_permissions m where m.user_id = denied_devices.user_id and m.is_denied
$$;

-- The metadata of a stored push; null for any other subject. PL/pgSQL, so that it is planned only for a record that has such a push.
create or replace function tacet.push_metadata(subject_id tacet.subject_id)
returns jsonb
language plpgsql stable
as $$
begin
  return (select p.metadata from tacet.pushes p where p.id = tacet.row_of(push_metadata.subject_id));
end
$$;

-- This and tacet.stored_push_audience have no settings of their own, so that they become a part of the claim.
create or replace function tacet.stored_push_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language sql stable rows 1
as $$
  select
    tacet.surface_of(p.id), null::tacet.user_id, p.send_at, p.expires_in, p.quiet_policy,
    case when p.metadata ? 'snooze' then tacet.denied_devices(p.user_id) else p.excluded_devices end,
    case
      when p.cancel_key is not null and tacet.is_cancelled(p.cancel_key, p.created_at) then 'cancelled'
      -- Of a slot that its user has switched off since, or lost, or whose campaign is off.
      when p.metadata ? 'slot' and not exists (
        select from tacet.slots s
        where s.user_id = p.user_id and s.campaign = p.campaign and s.slot = p.metadata ->> 'slot'
          and s.is_on and s.is_enabled and s.next_fire_at is not null
          and (select c.is_active from tacet.campaigns c where c.name = s.campaign)
      ) then 'cancelled'
      when p.metadata ? 'snooze' and tacet.is_done(p) then 'cancelled'
      else p.withheld
    end,
    p.presentation ->> 'channel' = 'fetch',
    json_build_object(
      'title', left(p.title, 4096), 'body', left(p.body, 4096),
      'data', case when octet_length(p.data::text) <= 8192 then p.data end,
      'presentation',
      case when p.collapse_id is null then p.presentation
        else p.presentation || jsonb_build_object('collapse_id', p.collapse_id)
      end)
  from tacet.pushes p
  where p.id = tacet.row_of(stored_push_content.subject_id) and p.kind = stored_push_content.event_kind
$$;

-- Takes a user's push of a day in a cap group; without a day today's, by the user's clock. False when it is taken, by a campaign or a server.
create or replace function tacet.take_cap(user_id tacet.user_id, cap_group text, day date default null)
returns boolean
language plpgsql volatile
as $$
begin
  insert into tacet.frequency_caps as f (committed_day, user_id, cap_group)
  values (
    coalesce(day, (clock_timestamp() at time zone coalesce(tacet.known_zone(tacet.user_time_zone(take_cap.user_id)), 'UTC'))::date),
    take_cap.user_id, take_cap.cap_group
  )
  on conflict on constraint frequency_caps_pkey do update
  set committed_day = excluded.committed_day
  where f.committed_day is null or f.committed_day < excluded.committed_day;
  return found;
end
$$;

-- The user of a stored push. `limit 1` keeps conditions of the claim out of the look-up: while the table is
-- believed empty, its index by user would seem to serve them.
create or replace function tacet.stored_push_audience(
  event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id
)
returns setof tacet.push_recipient
language sql stable rows 1
as $$
  select p.user_id, null::timestamptz, null::timestamptz
  from tacet.pushes p
  where p.id = tacet.row_of(stored_push_audience.subject_id) and p.kind = stored_push_audience.event_kind
  limit 1
$$;

call tacet.register_kind('stored_push', null, 'tacet.stored_push_content', 'tacet.stored_push_audience');
