-- Returns whether the ledger knows an id as a subject, and whether as a user.
--
--   :subject_id  tacet.subject_id  the id; null if no subject can have it
--   :user_id     tacet.user_id     the id; null if no user can have it

select
  exists (select from tacet.push_log l where l.subject_id = :subject_id) as is_subject,
  exists (select from tacet.push_log l where l.user_id = :user_id) as is_user;
