-- Returns when a span begins that has a bounded number of rows of the ledger, the newest ones: later than asked if it has more.
--
--   :from_us   bigint  the beginning that was asked for, since 1970
--   :until_us  bigint  end of the span, exclusive, since 1970
--   :rows_max  bigint  rows at most, at least 1; of one moment there may be more

select coalesce(
  (
    select (extract(epoch from l.enqueued_at) * 1000000)::bigint
    from tacet.push_log l
    where l.enqueued_at >= timestamptz 'epoch' + :from_us * interval '1 microsecond'
      and l.enqueued_at < timestamptz 'epoch' + :until_us * interval '1 microsecond'
    order by l.enqueued_at desc
    limit 1 offset :rows_max - 1),
  :from_us) as beginning_us;
