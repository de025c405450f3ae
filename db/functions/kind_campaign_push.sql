-- The kind campaign_push: what a campaign has written for one user; see tacet.commit_occasions. Its events have the push
-- types of campaigns.

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

create or replace function tacet.campaign_push_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language sql stable rows 1
as $$
  select c.* from tacet.stored_push_content(event_kind, subject_id, true) c
$$;

call tacet.register_kind('campaign_push', null, 'tacet.campaign_push_content', 'tacet.stored_push_audience');
