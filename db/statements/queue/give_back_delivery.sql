-- Gives back a leased delivery that is not to blame. The lease does not count as one that ran out.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :error       text              the error
--   :wait_us     bigint            how long it is left alone
--   :user_id     tacet.user_id     the recipient

update tacet.deliveries d set is_claimed = false, due_at = now() + :wait_us * interval '1 microsecond', error = :error
where d.subject_id = :subject_id and d.kind = :kind and d.user_id = :user_id and d.is_claimed;
