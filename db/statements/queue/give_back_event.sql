-- Gives back a leased event that is not to blame. The lease does not count as one that ran out.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :error       text              the error
--   :wait_us     bigint            how long it is left alone

update tacet.inbox i set is_claimed = false, available_at = now() + :wait_us * interval '1 microsecond', error = :error
where i.subject_id = :subject_id and i.kind = :kind and i.is_claimed;
