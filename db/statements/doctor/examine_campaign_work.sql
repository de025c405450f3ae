-- Counts hours that were not served, in the zones of the last days; undecided users; and decisions that failed.
--
--   :minutes  integer  minutes after midnight, where a campaign names no time

select
  (
    select count(*)
    from tacet.campaigns c
    cross join lateral tacet.due_slots(
      c.name, time '00:00' + :minutes * interval '1 minute', array(
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
      limit 10000
    ) n
  ) as undecided,
  (
    select count(*)
    from (
      select d.decision
      from tacet.campaign_decisions d
      where d.enrolled_at > clock_timestamp() - interval '1 day'
      order by d.enrolled_at desc
      limit 10000
    ) n
    where n.decision = 'failed'
  ) as failed;
