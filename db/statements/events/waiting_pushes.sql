-- Returns a user's pushes that wait, the next first; see tacet.waiting_pushes.
--
--   :user_id   tacet.user_id  the user
--   :rows_max  bigint         rows at most

select w.push_id, w.kind, left(w.title, 4096) as title, tacet.unix_us(w.due_at) as due_us, w.state, w.cancel_key
from tacet.waiting_pushes(:user_id) w
limit :rows_max;
