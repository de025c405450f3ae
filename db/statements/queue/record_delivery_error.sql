-- Stores why a delivery could not be looked at.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :user_id     tacet.user_id     the recipient
--   :error       text              the error

update tacet.deliveries d set error = :error
where d.subject_id = :subject_id and d.kind = :kind and d.user_id = :user_id and d.is_claimed;
