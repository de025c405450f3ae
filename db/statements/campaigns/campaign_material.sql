-- Returns whether a user may be pushed, if so what is known of the user, and the clock.
--
--   :campaign   text           the campaign
--   :user_id    tacet.user_id  the user
--   :due_us     bigint         the hour, since 1970
--   :local_day  text           the day

select
  r.refusal, case when r.refusal is null then tacet.campaign_material(:campaign, :user_id)::text end as material,
  (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
from (
  select
    tacet.campaign_refusal(
      :campaign, :user_id, timestamptz 'epoch' + :due_us * interval '1 microsecond', :local_day::date, null
    ) as refusal
  offset 0
) r;
