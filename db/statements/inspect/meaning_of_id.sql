-- Returns whether the ledger knows an id as a subject, and whether as a user.
--
--   :id  uuid  the id

select
  exists (select from public.push_log l where l.subject_id = :id) as is_subject,
  exists (select from public.push_log l where l.user_id = :id) as is_user;
