-- Makes rows of the inbox available now whose leases are over and which lie deeper than claims look for them. They stay
-- leased, and count as what a lost claim left behind.
--
--   :first_page  bigint  the table's page to begin with, from 0 on
--   :pages_max   bigint  pages at most
--
-- Returns the number of rows, and the page to go on with: 0 after the table's end, and while all rows are where claims
-- look. The table is read by its pages: by its index, a look would pass by every entry that a host's open transaction
-- keeps.

with floor as materialized (
  select n.available_at
  from tacet.inbox n
  where n.available_at <= now()
  order by n.available_at desc
  offset 20000
  limit 1
), brought as (
  update tacet.inbox i
  set available_at = now()
  where i.ctid = any (array(
    select x.ctid
    from tacet.inbox x
    where x.ctid >= format('(%s,0)', :first_page::bigint)::tid
      and x.ctid < format('(%s,0)', :first_page::bigint + :pages_max::bigint)::tid
      and x.is_claimed is not false and coalesce(x.leased_until, x.available_at) <= now()
      and (x.available_at <= (select f.available_at from floor f)) is true
      and exists (select from floor)
    limit 10000
    for update skip locked
  ))
  returning 1
)
select
  (select count(*) from brought) as rows,
  case
    when exists (select from floor) and (:first_page::bigint + :pages_max::bigint)
      * current_setting('block_size')::bigint < pg_relation_size('tacet.inbox')
      then :first_page::bigint + :pages_max::bigint
    else 0
  end as next_page;
