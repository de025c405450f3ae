internal import Postgres

// What `tacet doctor` asks about campaigns.
extension PushStatements {
  /// Calls the functions of a campaign for a user who does not exist. `$1`: the campaign.
  static let examineCampaign: PostgresStatement = {
    let (name, nobody) = ("examine_campaign", "uuid '00000000-0000-0000-0000-000000000000'")
    return PostgresStatement(
      name,
      """
      select
        (select count(*) from tacet.campaign_eligible($1, clock_timestamp(), null, \(nobody))),
        (select count(*) from tacet.sessions_between(\(nobody), clock_timestamp(), clock_timestamp())),
        tacet.campaign_material($1, \(nobody)) is null
      """,
      [.text])
  }()

  /// Hours that were not served, in the zones of the last days; users of whom nothing is decided; and decisions that failed.
  ///
  /// `$1`: minutes after midnight, where a campaign names no time.
  static let examineCampaignWork: PostgresStatement = {
    let name = "examine_campaign_work"
    return PostgresStatement(
      name,
      """
      select
        (
          select count(*)
          from tacet.campaigns c
          cross join lateral tacet.due_slots(
            c.name, time '00:00' + $1 * interval '1 minute', array(
              select distinct s.time_zone
              from tacet.campaign_slots s
              where s.campaign = c.name and s.due_at > clock_timestamp() - interval '8 days'
            )) d
          where d.due_at < clock_timestamp() - interval '10 minutes'
        ) as unserved,
        (
          select count(*)
          from (
            select
            from tacet.campaign_decisions d
            where d.decision is null and d.available_at < clock_timestamp() - interval '10 minutes'
            limit \(examinedRowsMax)
          ) n
        ) as undecided,
        (
          select count(*)
          from (
            select d.decision
            from tacet.campaign_decisions d
            where d.enrolled_at > clock_timestamp() - interval '1 day'
            order by d.enrolled_at desc
            limit \(examinedRowsMax)
          ) n
          where n.decision = 'failed'
        ) as failed
      """,
      [.int4])
  }()

  /// What language models have used today, and what is set aside.
  static let examineModelUsage: PostgresStatement = {
    let name = "examine_model_usage"
    return PostgresStatement(
      name,
      """
      select
        coalesce(sum(u.input_tokens + u.output_tokens + u.reserved_tokens), 0)::bigint as tokens,
        coalesce(sum(u.cost_microdollars + u.reserved_microdollars), 0)::bigint as microdollars
      from tacet.model_usage u
      where u.day = (clock_timestamp() at time zone 'UTC')::date
      """)
  }()
}
