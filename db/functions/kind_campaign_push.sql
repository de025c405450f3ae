-- The kind campaign_push: what a campaign has written for one user; see tacet.commit_campaign_push. Its events have the push
-- types of campaigns.

set check_function_bodies = off;

create or replace function tacet.campaign_push_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language sql stable rows 1
set search_path = pg_catalog, pg_temp
as $$
  select c.*
  from tacet.pushes p
  cross join lateral tacet.stored_push_content(p) c
  where p.id = tacet.row_of(campaign_push_content.subject_id) and p.kind = campaign_push_content.event_kind and p.campaign is not null
$$;

call tacet.register_kind('campaign_push', null, 'tacet.campaign_push_content', 'tacet.stored_push_audience');

reset check_function_bodies;
