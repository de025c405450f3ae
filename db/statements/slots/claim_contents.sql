-- Claims fetches of documents: those whose slot is due within the lead, and for whose day or a later one there was no attempt that
-- ended. An attempt has ended when its answer is noted. One process gets each, and when it does not note an answer within the lease,
-- because it has died, another one does. The arrays have an element for each row of a slot. Returns what to fetch.
--
--   :campaign      text             the campaign
--   :url           text             the campaign's URL
--   :slots         text[]           the slots
--   :user_ids      tacet.user_id[]  the users; null for a document of all users
--   :fire_dates    text[]           the days
--   :fire_us       bigint[]         when the slots are due, since 1970
--   :lead_us       bigint           the lead
--   :lease_us      bigint           how long an attempt may take
--   :contents_max  bigint           documents at most

with due as (
  select r.slot, r.user_id, max(r.fire_date::date) as fire_date
  from unnest(:slots, :user_ids, :fire_dates, :fire_us) as r (slot, user_id, fire_date, fire_us)
  cross join lateral (select timestamptz 'epoch' + r.fire_us * interval '1 microsecond' as fire_at) f
  where f.fire_at >= clock_timestamp() and f.fire_at - :lead_us * interval '1 microsecond' <= clock_timestamp()
  group by r.slot, r.user_id
), picked as (
  select d.*
  from due d
  where (
    select tacet.is_attempted(c, d.fire_date, :lease_us)
    from tacet.notif_contents c
    where c.campaign = :campaign and c.slot = d.slot and c.owner = coalesce('u' || d.user_id::text, '')
  ) is not true
  order by d.slot, d.user_id
  limit :contents_max
)
insert into tacet.notif_contents as c (campaign, slot, user_id, fire_date)
select :campaign, p.slot, p.user_id, p.fire_date from picked p
on conflict (campaign, slot, owner) do update
set fire_date = excluded.fire_date, attempted_at = excluded.attempted_at, failure_code = null
where not tacet.is_attempted(c, excluded.fire_date, :lease_us)
returning
  c.slot, c.user_id, c.fire_date::text, case when c.document is not null and c.url = :url then c.etag end as etag;
