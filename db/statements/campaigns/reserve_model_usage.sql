-- Reserves tokens and money for a call of a model that writes a text for a user. Returns for which day, the text that there is already,
-- and why nothing may be asked.
--
--   :user_id                tacet.user_id  the user
--   :question               text           a digest of what is asked
--   :tokens                 bigint         tokens
--   :cost_microdollars      bigint         millionths of a dollar
--   :tokens_max             bigint         tokens of a day
--   :cost_microdollars_max  bigint         millionths of a dollar of a day

select r.day::text as day, m.reply, m.refusal
from (select (clock_timestamp() at time zone 'UTC')::date as day) r
cross join lateral tacet.reserve_model_text(
  :user_id, :question, r.day, :tokens, :cost_microdollars, :tokens_max, :cost_microdollars_max) m;
