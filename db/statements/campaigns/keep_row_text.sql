-- Keeps the body that a language model has written for a row of a watched kind, and lets its event be pushed.
--
--   :kind        text              the kind
--   :subject_id  tacet.subject_id  the row
--   :body        text              the body; null where nothing was written

select tacet.keep_row_text(:kind, :subject_id, :body);
