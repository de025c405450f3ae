-- Cancels the pushes of a key; see tacet.cancel_pushes. Returns how many wait.
--
--   :cancel_key  text  the key

select tacet.cancel_pushes(:cancel_key) as waiting;
