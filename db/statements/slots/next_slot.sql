-- Returns the microseconds until a slot may be rendered, and until a row is due; null when none is to come.

select
  (extract(epoch from (select min(s.available_at) from tacet.slots s) - clock_timestamp()) * 1000000)::bigint as rendering,
  (
    extract(epoch from (
      select min(d.available_at)
      from tacet.notif_deliveries d
      where d.status in ('scheduled', 'armed') and d.available_at < 'infinity') - clock_timestamp()) * 1000000
  )::bigint as pushing;
