-- What language models are asked and have written.

-- name: reserve_model_usage(
--   user_id tacet.user_id, question text, tokens bigint, cost_microdollars bigint, tokens_max bigint, cost_microdollars_max bigint)
-- Reserves tokens and money for a call of a model that writes a text for a user. Returns for which day, the text that there is already,
-- and why nothing may be asked.

select r.day::text as day, m.reply, m.refusal
from (select (clock_timestamp() at time zone 'UTC')::date as day) r
cross join lateral tacet.reserve_model_text(
  :user_id, :question, r.day, :tokens, :cost_microdollars, :tokens_max, :cost_microdollars_max) m;

-- name: settle_model_usage(
--   day text, reserved_tokens bigint, reserved_microdollars bigint, input_tokens bigint, output_tokens bigint,
--   cost_microdollars bigint, user_id tacet.user_id, question text, reply text)
-- Replaces what was reserved by what was used, also across midnight, and keeps the text.
--
-- reply: one that may be sent; null for none.

with kept as (
  update tacet.model_texts t set reply = :reply where t.user_id = :user_id and t.question = :question and :reply::text is not null
)
update tacet.model_usage u
set
  reserved_tokens = greatest(u.reserved_tokens - :reserved_tokens, 0),
  reserved_microdollars = greatest(u.reserved_microdollars - :reserved_microdollars, 0),
  input_tokens = u.input_tokens + :input_tokens, output_tokens = u.output_tokens + :output_tokens,
  cost_microdollars = u.cost_microdollars + :cost_microdollars
where u.day = :day::date;

-- name: take_row_texts(rows_max integer)
-- Takes events of watched kinds whose bodies a language model writes.

select r.kind, r.subject_id, r.user_id, r.composer, r.facts from tacet.take_row_texts(:rows_max) r;

-- name: keep_row_text(kind text, subject_id tacet.subject_id, body text)
-- Keeps the body that a language model has written for a row of a watched kind, and lets its event be pushed, unless it is for later.
--
-- subject_id: the row. body: null where nothing was written.

with kept as (
  update tacet.row_texts t set body = :body where t.subject_id = :subject_id and t.kind = :kind
)
update tacet.inbox i
set available_at = clock_timestamp()
where i.subject_id = :subject_id and i.kind = :kind and not i.is_claimed
  and i.available_at <= clock_timestamp() + interval '10 seconds';
