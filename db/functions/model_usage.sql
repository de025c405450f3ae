-- The day's budget for language models.

set check_function_bodies = off;

-- Reserves tokens and money of a day for a call of a language model. Returns false when the day's limits leave too little.
create or replace function tacet.reserve_model_usage(
  usage_day date, tokens bigint, microdollars bigint, tokens_max bigint, microdollars_max bigint
)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.model_usage (day) values (usage_day) on conflict do nothing;
  update tacet.model_usage u
  set
    reserved_tokens = u.reserved_tokens + tokens, reserved_microdollars = u.reserved_microdollars + microdollars,
    calls = u.calls + 1
  where u.day = usage_day
    and u.input_tokens + u.output_tokens + u.reserved_tokens + tokens <= tokens_max
    and u.cost_microdollars + u.reserved_microdollars + microdollars <= microdollars_max;
  return found;
end
$$;

-- Replaces a reservation by what the call used, also across midnight.
create or replace function tacet.settle_model_usage(
  usage_day date, tokens bigint, microdollars bigint, used_input bigint, used_output bigint, used_microdollars bigint
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  update tacet.model_usage u
  set
    reserved_tokens = greatest(u.reserved_tokens - tokens, 0),
    reserved_microdollars = greatest(u.reserved_microdollars - microdollars, 0),
    input_tokens = u.input_tokens + used_input, output_tokens = u.output_tokens + used_output,
    cost_microdollars = u.cost_microdollars + used_microdollars
  where u.day = usage_day
$$;

reset check_function_bodies;
