internal import Postgres

// What campaigns do in the database; the decisions themselves are functions of 0018_campaigns, because each is several
// statements under one lock.
extension PushStatements {
  /// The campaigns that are active: their names, what they are, and whether hours make them run.
  static let campaigns = PostgresStatement(
    "campaigns",
    "select c.name, c.definition::text, c.is_scheduled from tacet.campaigns c where c.is_active order by c.name",
    [])

  /// The zones in which a campaign's audience lives. `$1`: the campaign.
  static let campaignZones = PostgresStatement(
    "campaign_zones", "select z from tacet.campaign_zones($1) as z (z)", [.text])

  /// The hours of a campaign that have come and that nobody has served: zone, day and instant.
  ///
  /// `$1`: the campaign. `$2`: minutes after midnight, where the campaign names no time. `$3`: the zones to look at.
  static let dueSlots = PostgresStatement(
    "due_slots",
    """
    select s.time_zone, s.local_day::text, (extract(epoch from s.due_at) * 1000000)::bigint
    from tacet.due_slots($1, time '00:00' + $2 * interval '1 minute', $3) s
    """,
    [.text, .int4, .array(of: .text)])

  /// Notes everybody whose hour one of them is, and says how many they are.
  ///
  /// `$1`: the campaign. `$2`–`$4`: as ``dueSlots`` returned them.
  static let enrolSlot = PostgresStatement(
    "enrol_slot", "select tacet.enrol_slot($1, $2, $3::date, timestamptz 'epoch' + $4 * interval '1 microsecond')",
    [.text, .text, .text, .int8])

  /// Notes everybody now, whatever the hour. `$1`: the campaign. `$2`: the only user; null for all. No row when there is no
  /// such campaign.
  static let enrolCampaign = PostgresStatement(
    "enrol_campaign",
    """
    with \(durable)
    select e.run_id, e.enrolled
    from durable
    cross join lateral tacet.enrol_campaign($1, clock_timestamp(), 'request', null, $2) e
    """,
    [.text, .uuid])

  /// Whom a campaign would look at now and has not looked at today, in the order of their ids; how many they are, and the clock.
  ///
  /// `$1`: the campaign. `$2`: the only user; null for all. `$3`: how many are named.
  static let eligibleForCampaign = PostgresStatement(
    "eligible_for_campaign",
    """
    select
      e.user_id, e.time_zone, e.local_day::text, count(*) over (),
      (extract(epoch from clock_timestamp()) * 1000000)::bigint
    from tacet.campaign_eligible($1, clock_timestamp(), null, $2) e
    where not exists (
      select
      from tacet.campaign_decisions d
      where d.user_id = e.user_id and d.campaign = $1 and d.local_day = e.local_day)
    order by e.user_id
    limit $3
    """,
    [.text, .uuid, .int8])

  /// Leases undecided users, those first who have waited longest.
  ///
  /// `$1`: how many. `$2`: the lease in microseconds. `$3`: how long after its hour a decision may still be made, in
  /// microseconds. The last column says that it is too late.
  static let claimCampaignDecisions = PostgresStatement(
    "claim_campaign_decisions",
    """
    with picked as materialized (
      select d.user_id, d.campaign, d.local_day
      from tacet.campaign_decisions d
      where d.decision is null and d.available_at <= clock_timestamp()
      order by d.available_at
      limit $1
      for update skip locked
    )
    update tacet.campaign_decisions d
    set available_at = clock_timestamp() + $2 * interval '1 microsecond', attempts = d.attempts + 1
    from picked p
    where d.user_id = p.user_id and d.campaign = p.campaign and d.local_day = p.local_day
    returning
      d.campaign, d.user_id, d.local_day::text, d.attempts::int4, d.time_zone, (extract(epoch from d.due_at) * 1000000)::bigint,
      d.due_at + $3 * interval '1 microsecond' < clock_timestamp()
    """,
    [.int8, .int8, .int8])

  /// Gives leases back before they run out; whoever claimed again meanwhile keeps theirs.
  ///
  /// `$1`–`$4`: campaigns, users, days and attempts, in columns of one length.
  static let releaseCampaignDecisions = PostgresStatement(
    "release_campaign_decisions",
    """
    update tacet.campaign_decisions d
    set available_at = clock_timestamp(), attempts = d.attempts - 1
    from unnest($1, $2, $3, $4) as r (campaign, user_id, local_day, attempts)
    where d.user_id = r.user_id and d.campaign = r.campaign and d.local_day = r.local_day::date
      and d.attempts = r.attempts and d.decision is null
    """,
    [.array(of: .text), .array(of: .uuid), .array(of: .text), .array(of: .int4)])

  /// Whether a user may be pushed, and if so what is known of them, and the clock.
  ///
  /// `$1`: the campaign. `$2`: the user. `$3`: the hour, microseconds since 1970. `$4`: the day.
  static let campaignMaterial = PostgresStatement(
    "campaign_material",
    """
    select
      r.refusal, case when r.refusal is null then tacet.campaign_material($1, $2)::text end,
      (extract(epoch from clock_timestamp()) * 1000000)::bigint
    from (
      select
        tacet.campaign_refusal($1, $2, timestamptz 'epoch' + $3 * interval '1 microsecond', $4::date, null) as refusal
      offset 0
    ) r
    """,
    [.text, .uuid, .int8, .text])

  /// Ends a decision without a push; parameters as of `tacet.decide_campaign`. Says whether it was still the caller's.
  static let decideCampaign = PostgresStatement(
    "decide_campaign", "select tacet.decide_campaign($1, $2, $3::date, $4, $5, $6, $7, $8::jsonb, $9, $10, $11)",
    [.text, .uuid, .text, .int4, .text, .text, .text, .text, .int8, .int8, .int8])

  /// Ends a decision with a push, unless something keeps it back by now; parameters as of `tacet.commit_campaign_push`.
  static let commitCampaignPush = PostgresStatement(
    "commit_campaign_push",
    """
    select c.reason, c.push_id
    from tacet.commit_campaign_push(
      $1, $2, $3::date, $4, $5, $6::jsonb, $7, $8, $9, $10::json, $11::jsonb, $12, $13, $14
    ) c
    """,
    [.text, .uuid, .text, .int4, .text, .text, .text, .text, .text, .text, .text, .int8, .int8, .int8])

  /// How far a run has come, as a document. `$1`: the run. No row when there is none.
  static let campaignRun = PostgresStatement(
    "campaign_run",
    """
    select jsonb_build_object(
      'campaign', r.campaign, 'enrolled', r.enrolled,
      'startedAt', (extract(epoch from r.started_at) * 1000000)::bigint,
      'undecided', d.undecided, 'committed', d.committed, 'skipped', d.skipped, 'failed', d.failed,
      'reasons', d.reasons, 'inputTokens', d.input_tokens, 'outputTokens', d.output_tokens,
      'costMicrodollars', d.cost_microdollars, 'finishedAt', d.finished_at)::text
    from tacet.campaign_runs r
    cross join lateral (
      select
        coalesce(sum(x.users) filter (where x.decision is null), 0) as undecided,
        coalesce(sum(x.users) filter (where x.decision = 'committed'), 0) as committed,
        coalesce(sum(x.users) filter (where x.decision = 'skipped'), 0) as skipped,
        coalesce(sum(x.users) filter (where x.decision = 'failed'), 0) as failed,
        coalesce(jsonb_object_agg(x.reason, x.users) filter (where x.reason is not null), '{}') as reasons,
        coalesce(sum(x.input_tokens), 0) as input_tokens, coalesce(sum(x.output_tokens), 0) as output_tokens,
        coalesce(sum(x.cost_microdollars), 0) as cost_microdollars,
        (extract(epoch from max(x.decided_at)) * 1000000)::bigint as finished_at
      from (
        select
          y.decision, y.reason, count(*) as users, sum(y.input_tokens) as input_tokens,
          sum(y.output_tokens) as output_tokens, sum(y.cost_microdollars) as cost_microdollars,
          max(y.decided_at) as decided_at
        from tacet.campaign_decisions y
        where y.run_id = r.id
        group by y.decision, y.reason
      ) x
    ) d
    where r.id = $1
    """,
    [.uuid])

  /// Sets tokens and money aside for a call of a model, and says for which day; no row when the day's bounds leave none.
  ///
  /// `$1`, `$2`: tokens and millionths of a dollar. `$3`, `$4`: the day's bounds.
  static let reserveModelUsage = PostgresStatement(
    "reserve_model_usage",
    """
    select r.day::text
    from (select (clock_timestamp() at time zone 'UTC')::date as day) r
    where tacet.reserve_model_usage(r.day, $1, $2, $3, $4)
    """,
    [.int8, .int8, .int8, .int8])

  /// Replaces what was set aside by what was used.
  ///
  /// `$1`: the day. `$2`, `$3`: what was set aside. `$4`–`$6`: tokens read and written, and what they cost.
  static let settleModelUsage = PostgresStatement(
    "settle_model_usage", "select tacet.settle_model_usage($1::date, $2, $3, $4, $5, $6)",
    [.text, .int8, .int8, .int8, .int8, .int8])

  /// What a campaign decided about a user, the newest days first, and what would keep it back now; one document.
  ///
  /// `$1`: the campaign. `$2`: the user. `$3`: the day; null for the newest ``campaignDaysMax``.
  static let campaignStory = PostgresStatement(
    "campaign_story",
    """
    select jsonb_build_object(
      'isKnown', exists (select from tacet.campaigns c where c.name = $1),
      'now', (extract(epoch from clock_timestamp()) * 1000000)::bigint,
      'standing', tacet.campaign_refusal(
        $1, $2, clock_timestamp(), (clock_timestamp() at time zone tacet.campaign_zone($1, $2))::date, null),
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
                  from public.push_log l
                  where l.subject_id = d.push_id and l.user_id = d.user_id
                  limit 1
                )) as day
            from tacet.campaign_decisions d
            where d.campaign = $1 and d.user_id = $2 and ($3::text is null or d.local_day = $3::date)
            order by d.local_day desc
            limit \(campaignDaysMax)
          ) s
        ),
        '[]'))::text
    """,
    [.text, .uuid, .text])

  /// Days that a story has at the most.
  static let campaignDaysMax = 14
}
