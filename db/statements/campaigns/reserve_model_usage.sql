-- Reserves tokens and money for a call of a model, and returns for which day. No row when the day's limits leave too
-- little.
--
--   :tokens                 bigint  tokens
--   :cost_microdollars      bigint  millionths of a dollar
--   :tokens_max             bigint  tokens of a day
--   :cost_microdollars_max  bigint  millionths of a dollar of a day

select r.day::text
from (select (clock_timestamp() at time zone 'UTC')::date as day) r
where tacet.reserve_model_usage(r.day, :tokens, :cost_microdollars, :tokens_max, :cost_microdollars_max);
