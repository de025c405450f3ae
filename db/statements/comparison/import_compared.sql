-- Takes pushes of another sender in. Returns how many were new, or told more than was known.
--
--   :subject_ids  tacet.subject_id[]  the subjects, one element for each push
--   :user_ids     tacet.user_id[]     their recipients
--   :kinds        text[]              their kinds
--   :sent_us      bigint[]            when they were sent, since 1970
--   :outcomes     text[]              the words for those that failed; null for those that were sent

select tacet.import_compared(
  :subject_ids, :user_ids, :kinds,
  array(
    select timestamptz 'epoch' + s.us * interval '1 microsecond'
    from unnest(:sent_us::bigint[]) with ordinality as s (us, place)
    order by s.place),
  :outcomes);
