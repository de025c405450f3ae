-- Returns what language models have used today, and what is reserved.

select
  coalesce(sum(u.input_tokens + u.output_tokens + u.reserved_tokens), 0)::bigint as tokens,
  coalesce(sum(u.cost_microdollars + u.reserved_microdollars), 0)::bigint as microdollars
from tacet.model_usage u
where u.day = (clock_timestamp() at time zone 'UTC')::date;
