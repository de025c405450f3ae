-- The day's budget for language models, of all users and of each.

-- Reserves tokens and money of a day of UTC for a call that writes a text for a user. reply: the text that there is already, because the
-- same was asked before; nothing is reserved then. refusal: why nothing may be asked: the day's limits leave too little, or the user has
-- had 50 calls of that day, so that no user can use up the day of all: reminders need some ten. Texts of more than two days ago are
-- forgotten.
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
  perform pg_advisory_xact_lock(tacet.lock_of('model ' || user_id));
  select t.reply into reply from tacet.model_texts t where t.user_id = user_id and t.question = question;
  if reply is not null then
    return next;
    return;
  end if;
  if (select coalesce(sum(t.calls), 0) >= 50 from tacet.model_texts t where t.user_id = user_id and t.day = usage_day) then
    refusal := 'model_user_budget_spent';
    return next;
    return;
  end if;
  insert into tacet.model_usage (day) values (usage_day) on conflict do nothing;
  update tacet.model_usage u
  set
    reserved_tokens = u.reserved_tokens + tokens, reserved_microdollars = u.reserved_microdollars + microdollars,
    calls = u.calls + 1
  where u.day = usage_day
    and u.input_tokens + u.output_tokens + u.reserved_tokens + tokens <= tokens_max
    and u.cost_microdollars + u.reserved_microdollars + microdollars <= microdollars_max;
  if found then
    delete from tacet.model_texts t where t.user_id = user_id and t.asked_at < clock_timestamp() - interval '2 days';
    insert into tacet.model_texts as t (user_id, question, day)
    values (user_id, question, usage_day)
    on conflict on constraint model_texts_pkey do update
    set
      asked_at = clock_timestamp(), day = excluded.day, calls = case when t.day = excluded.day then t.calls + 1 else 1 end;
  else
    refusal := 'model_budget_spent';
  end if;
  return next;
end
$$;
