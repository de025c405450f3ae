-- The kind campaign_push: what a campaign has written for one user; see tacet.commit_campaign_push. Its events have the push
-- types of campaigns.

set check_function_bodies = off;

create or replace function tacet.campaign_push_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language sql stable rows 1
as $$
  select c.* from tacet.stored_push_content(event_kind, subject_id, true) c
$$;

call tacet.register_kind('campaign_push', null, 'tacet.campaign_push_content', 'tacet.stored_push_audience');

reset check_function_bodies;
