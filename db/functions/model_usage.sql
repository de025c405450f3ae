-- The day's budget for language models, of all users and of each.

-- Reserves tokens and money of a day for a call of a language model. Returns false when the day's limits leave too little.
create or replace function tacet.reserve_model_usage(
  usage_day date, tokens bigint, microdollars bigint, tokens_max bigint, microdollars_max bigint
)
returns boolean
language plpgsql volatile
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

-- Reserves a call that writes a text for a user. reply: the text that there is already, because the same was asked before; nothing is
-- reserved then. refusal: why nothing may be asked. A user's texts of a day cost 50 calls at most, so that no user can use up the day
-- of all: reminders need some ten. Texts of more than two days ago are forgotten.
create or replace function tacet.reserve_model_text(
  user_id tacet.user_id, question text, usage_day date, tokens bigint, microdollars bigint, tokens_max bigint,
  microdollars_max bigint
)
returns table (reply text, refusal text)
language plpgsql volatile rows 1
as $$
#variable_conflict use_variable
begin
  -- Of two calls of a user at once, the second sees the first.
  perform pg_advisory_xact_lock(hashtextextended('model ' || user_id, 1952539493));
  select t.reply into reply
  from tacet.model_texts t
  where t.user_id = reserve_model_text.user_id and t.question = reserve_model_text.question;
  if reply is not null then
    return next;
    return;
  end if;
  if (
    select coalesce(sum(t.calls), 0) >= 50
    from tacet.model_texts t
    where t.user_id = reserve_model_text.user_id and t.day = usage_day
  ) then
    refusal := 'model_user_budget_spent';
  elsif not tacet.reserve_model_usage(usage_day, tokens, microdollars, tokens_max, microdollars_max) then
    refusal := 'model_budget_spent';
  else
    delete from tacet.model_texts t
    where t.user_id = reserve_model_text.user_id and t.asked_at < clock_timestamp() - interval '2 days';
    insert into tacet.model_texts as t (user_id, question, day)
    values (reserve_model_text.user_id, reserve_model_text.question, usage_day)
    on conflict on constraint model_texts_pkey do update
    set
      asked_at = clock_timestamp(), day = excluded.day, calls = case when t.day = excluded.day then t.calls + 1 else 1 end;
  end if;
  return next;
end
$$;

-- Replaces a reservation by what the call used, also across midnight.
create or replace function tacet.settle_model_usage(
  usage_day date, tokens bigint, microdollars bigint, used_input bigint, used_output bigint, used_microdollars bigint
)
returns void
language sql volatile
as $$
  update tacet.model_usage u
  set
    reserved_tokens = greatest(u.reserved_tokens - tokens, 0),
    reserved_microdollars = greatest(u.reserved_microdollars - microdollars, 0),
    input_tokens = u.input_tokens + used_input, output_tokens = u.output_tokens + used_output,
    cost_microdollars = u.cost_microdollars + used_microdollars
  where u.day = usage_day
$$;
