-- Returns what a campaign decided about a user, newest days first, its slots, and what would keep it back now; one document.
--
--   :campaign   text           the campaign
--   :user_id    tacet.user_id  the user
--   :local_day  text           the day; null for the newest 14

select jsonb_build_object(
  'isKnown', exists (select from tacet.campaigns c where c.name = :campaign),
  'now', (extract(epoch from clock_timestamp()) * 1000000)::bigint,
  'standing', tacet.campaign_refusal(
    :campaign, :user_id, clock_timestamp(),
    (clock_timestamp() at time zone tacet.campaign_zone(:campaign, :user_id))::date, null),
  'slots', (
    select jsonb_agg(
      jsonb_build_object(
        'slot', s.slot, 'phase', s.phase, 'isOn', s.is_on and s.is_enabled,
        'nextFireAt', (extract(epoch from s.next_fire_at) * 1000000)::bigint)
      order by s.slot)
    from tacet.slots s
    where s.campaign = :campaign and s.user_id = :user_id
  ),
  'rows', (
    select jsonb_agg(r.row order by r.fire_at desc)
    from (
      select
        d.fire_at,
        jsonb_build_object(
          'slot', d.slot, 'phase', d.phase, 'localDay', d.fire_date, 'timeZone', d.time_zone,
          'fireAt', (extract(epoch from d.fire_at) * 1000000)::bigint,
          'renderedAt', (extract(epoch from d.rendered_at) * 1000000)::bigint,
          'status', d.status, 'reason', d.reason, 'title', d.title, 'body', d.body,
          'armedBy', cardinality(d.armed_by), 'attempts', d.attempts, 'push', tacet.campaign_push_outcome(d.push_id, d.user_id)) as row
      from tacet.notif_deliveries d
      where d.campaign = :campaign and d.user_id = :user_id
        and (:local_day::text is null or d.fire_date = :local_day::date)
      order by d.fire_at desc
      limit 48
    ) r
  ),
  'days', coalesce(
    (
      select jsonb_agg(s.day order by s.local_day desc)
      from (
        select
          d.local_day,
          jsonb_build_object(
            'localDay', d.local_day, 'timeZone', d.time_zone, 'attempts', d.attempts, 'runID', d.run_id,
            'dueAt', (extract(epoch from d.due_at) * 1000000)::bigint,
            'enrolledAt', (extract(epoch from d.enrolled_at) * 1000000)::bigint,
            'decidedAt', (extract(epoch from d.decided_at) * 1000000)::bigint,
            'decision', d.decision, 'reason', d.reason, 'layer', d.layer, 'inputs', d.inputs,
            'inputTokens', d.input_tokens, 'outputTokens', d.output_tokens,
            'costMicrodollars', d.cost_microdollars, 'pushID', d.push_id,
            'push', tacet.campaign_push_outcome(d.push_id, d.user_id)) as day
        from tacet.campaign_decisions d
        where d.campaign = :campaign and d.user_id = :user_id
          and (:local_day::text is null or d.local_day = :local_day::date)
        order by d.local_day desc
        limit 14
      ) s
    ),
    '[]'))::text;
