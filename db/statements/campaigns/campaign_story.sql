-- Returns what a campaign decided about a user, newest days first, and what would keep it back now; one document.
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
            'push', (
              select jsonb_build_object(
                'logID', l.id, 'pushType', l.push_type, 'decision', l.decision, 'reason', l.reason,
                'content', l.content, 'opened', l.opened, 'sentAt', (extract(epoch from l.sent_at) * 1000000)::bigint)
              from tacet.push_log l
              where l.subject_id = tacet.subject_of(d.push_id) and l.user_id = d.user_id
              limit 1
            )) as day
        from tacet.campaign_decisions d
        where d.campaign = :campaign and d.user_id = :user_id
          and (:local_day::text is null or d.local_day = :local_day::date)
        order by d.local_day desc
        limit 14
      ) s
    ),
    '[]'))::text;
