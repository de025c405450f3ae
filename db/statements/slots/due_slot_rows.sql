-- Returns how many rows are due.
--
--   :count_max  bigint  counted at most

select count(*)
from (
  select
  from tacet.notif_deliveries d
  where d.status in ('scheduled', 'armed') and d.available_at < 'infinity' and d.available_at <= now()
  limit :count_max
) n;
