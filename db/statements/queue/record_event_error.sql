-- Stores why an event could not be looked at.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :error       text              the error

update tacet.inbox i set error = :error where i.subject_id = :subject_id and i.kind = :kind and i.is_claimed;
