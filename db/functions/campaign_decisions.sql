-- Decisions of campaigns about single users.

-- Why a campaign may not push to a user now; null when nothing keeps it back. What cannot be determined keeps the push back.
-- push_type: null while unknown.
create or replace function tacet.campaign_refusal(
  campaign text, user_id tacet.user_id, due_at timestamptz, local_day date, push_type text
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  found_campaign tacet.campaigns;
  found_day record;
  found_zone text;
  found_gap int;
  wishes record;
  refusal text;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign_refusal.campaign and c.is_active;
  if not found then
    return 'campaign_inactive';
  end if;
  execute format(
    'select coalesce(tacet.known_zone(a.time_zone), ''UTC''), a.gap_days, a.refusal from (%s) a limit 1',
    tacet.audience_query(found_campaign.audience, '$1', '$2'))
  into found_zone, found_gap, refusal
  using clock_timestamp(), campaign_refusal.user_id;
  if found_zone is null then
    return 'not_in_audience';
  end if;
  if refusal is not null then
    -- It becomes a label of metrics, so it is a word.
    return coalesce(substring(refusal from '^[a-z][a-z_]{0,39}$'), 'refused_by_host');
  end if;
  select d.* into found_day from tacet.campaign_day(found_zone, found_gap, campaign_refusal.due_at) d;
  if (clock_timestamp() at time zone found_zone)::date <> found_day.local_day
    or found_day.local_day <> campaign_refusal.local_day
  then
    return 'day_over';
  end if;
  select g.reason into refusal
  from tacet.campaign_gate(
    campaign_refusal.user_id, found_campaign.needs_no_session, found_campaign.cap_group,
    tacet.campaign_push_types(found_campaign.cap_group), found_day.local_day, found_day.day_start, found_day.day_end,
    found_day.gap_start
  ) g;
  if refusal is not null then
    return refusal;
  end if;
  if not tacet.has_account(campaign_refusal.user_id) and tacet.uses_accounts() then
    return 'no_account';
  end if;
  if not tacet.has_targets(campaign_refusal.user_id) then
    return 'no_tokens';
  end if;
  select p.is_opted_out, p.is_muted, p.quiet_hours_remaining into wishes
  from tacet.recipient_preferences(
    campaign_refusal.user_id, coalesce(campaign_refusal.push_type, ''), null, clock_timestamp()
  ) p;
  return case
    when wishes.is_opted_out then 'opted_out'
    when wishes.is_muted then 'muted'
    when wishes.quiet_hours_remaining > interval '0' then 'quiet_hours'
  end;
exception
  when others then
    raise warning 'tacet: cannot tell whether campaign % may send: % (%)', campaign_refusal.campaign, sqlerrm, sqlstate;
    return 'eligibility_unknown';
end
$$;

-- What is known of a user for a campaign, from the campaign's material function; null without such a campaign.
create or replace function tacet.campaign_material(campaign text, user_id tacet.user_id)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  found_material regproc;
  has_locales boolean;
  material jsonb;
begin
  select c.material::regproc, tacet.is_localised(c.definition) into found_material, has_locales
  from tacet.campaigns c
  where c.name = campaign_material.campaign;
  if found then
    execute format('select %s($1, $2)', found_material) into material using campaign_material.user_id, clock_timestamp();
  end if;
  if has_locales and material ->> 'locale' is null then
    material := material || jsonb_build_object('locale', tacet.user_locale(campaign_material.user_id));
  end if;
  return material;
end
$$;

-- Ends a claimed decision without a push. Returns whether the decision was still the caller's.
create or replace function tacet.decide_campaign(
  campaign text, user_id tacet.user_id, local_day date, attempts int, decision text, reason text, layer text, inputs jsonb,
  input_tokens bigint, output_tokens bigint, cost_microdollars bigint
)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update tacet.campaign_decisions d
  set
    decided_at = clock_timestamp(), decision = decide_campaign.decision, reason = decide_campaign.reason,
    layer = decide_campaign.layer, inputs = decide_campaign.inputs,
    input_tokens = d.input_tokens + decide_campaign.input_tokens,
    output_tokens = d.output_tokens + decide_campaign.output_tokens,
    cost_microdollars = d.cost_microdollars + decide_campaign.cost_microdollars
  where d.campaign = decide_campaign.campaign and d.user_id = decide_campaign.user_id
    and d.local_day = decide_campaign.local_day and d.attempts = decide_campaign.attempts and d.decision is null;
  return found;
end
$$;

-- Ends a claimed decision with a push, unless something keeps it back by now. Cap, session and the rest are checked in this
-- transaction, after the user's row of tacet.frequency_caps for the campaign's group is locked, so that of two concurrent
-- decisions of a group the second sees the first. A campaign without a group locks its decision alone. Waits for the disk,
-- because a push that was sent and lost could be sent again tomorrow.
--
-- Returns the reason when there is no push, null when there is one, and the push's id. claim_lost: another session has
-- decided, or will.
create or replace function tacet.commit_campaign_push(
  campaign text, user_id tacet.user_id, local_day date, attempts int, layer text, inputs jsonb, push_type text, title text,
  body text, data json, metadata jsonb, input_tokens bigint, output_tokens bigint, cost_microdollars bigint
)
returns table (reason text, push_id uuid)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  claimed tacet.campaign_decisions;
  found_campaign tacet.campaigns;
  found_group text;
  moment timestamptz;
begin
  perform set_config('synchronous_commit', 'on', true);
  select d.* into claimed
  from tacet.campaign_decisions d
  where d.campaign = commit_campaign_push.campaign and d.user_id = commit_campaign_push.user_id
    and d.local_day = commit_campaign_push.local_day and d.attempts = commit_campaign_push.attempts
    and d.decision is null
  for update;
  if not found then
    reason := 'claim_lost';
    return next;
    return;
  end if;
  select c.* into found_campaign from tacet.campaigns c where c.name = commit_campaign_push.campaign;
  found_group := found_campaign.cap_group;
  if found_group is not null then
    insert into tacet.frequency_caps (user_id, cap_group) values (commit_campaign_push.user_id, found_group)
    on conflict do nothing;
    perform from tacet.frequency_caps f
    where f.user_id = commit_campaign_push.user_id and f.cap_group = found_group
    for update;
  end if;
  reason := tacet.campaign_refusal(
    commit_campaign_push.campaign, commit_campaign_push.user_id, claimed.due_at, commit_campaign_push.local_day,
    commit_campaign_push.push_type);
  if reason is null then
    moment := clock_timestamp();
    push_id := gen_random_uuid();
    insert into tacet.pushes (
      created_at, id, user_id, kind, title, body, data, metadata, quiet_policy, campaign, presentation
    )
    values (
      moment, commit_campaign_push.push_id, commit_campaign_push.user_id, commit_campaign_push.push_type,
      commit_campaign_push.title, commit_campaign_push.body, commit_campaign_push.data,
      commit_campaign_push.metadata || jsonb_build_object('due_at', extract(epoch from claimed.due_at)), 'drop',
      commit_campaign_push.campaign,
      tacet.campaign_presentation(found_campaign.definition -> 'presentation', commit_campaign_push.data::jsonb)
    );
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at)
    values (
      commit_campaign_push.push_id, commit_campaign_push.push_type, tacet.turn_of(commit_campaign_push.user_id), moment
    );
    update tacet.frequency_caps f
    set committed_at = moment, committed_day = commit_campaign_push.local_day
    where f.user_id = commit_campaign_push.user_id and f.cap_group = found_group;
    if found_campaign.on_push is not null then
      execute format('select %s($1, $2)', found_campaign.on_push::regproc) using commit_campaign_push.user_id, moment;
    end if;
  end if;
  perform tacet.decide_campaign(
    commit_campaign_push.campaign, commit_campaign_push.user_id, commit_campaign_push.local_day,
    commit_campaign_push.attempts, case when commit_campaign_push.reason is null then 'committed' else 'skipped' end,
    commit_campaign_push.reason, commit_campaign_push.layer, commit_campaign_push.inputs,
    commit_campaign_push.input_tokens, commit_campaign_push.output_tokens, commit_campaign_push.cost_microdollars);
  update tacet.campaign_decisions d
  set push_id = commit_campaign_push.push_id
  where commit_campaign_push.push_id is not null and d.campaign = commit_campaign_push.campaign
    and d.user_id = commit_campaign_push.user_id and d.local_day = commit_campaign_push.local_day;
  return next;
end
$$;

-- What became of a campaign's push, for explanations; null until it is recorded.
create or replace function tacet.campaign_push_outcome(push_id uuid, user_id tacet.user_id)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'logID', l.id, 'pushType', l.push_type, 'decision', l.decision, 'reason', l.reason, 'content', l.content,
    'opened', l.opened, 'sentAt', (extract(epoch from l.sent_at) * 1000000)::bigint)
  from tacet.push_log l
  where l.subject_id = tacet.subject_of(campaign_push_outcome.push_id) and l.user_id = campaign_push_outcome.user_id
  limit 1
$$;
