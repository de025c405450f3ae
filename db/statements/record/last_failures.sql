-- Returns the reason of the last attempt that the ledger knows of, for recipients who have one.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :user_ids    tacet.user_id[]   the recipients

select f.user_id, f.reason
from (
  select
    l.user_id,
    jsonb_path_query_array(l.history, '$[*].attempts[*] ? (exists (@.apns_id))') -> -1 ->> 'reason' as reason
  from tacet.push_log l
  where l.subject_id = :subject_id and l.push_type = :kind and l.user_id = any (:user_ids)
) f
where f.reason is not null;
