-- Replaces what was reserved by what was used, and keeps the text.
--
--   :day                    text           the day
--   :reserved_tokens        bigint         tokens that were reserved
--   :reserved_microdollars  bigint         millionths of a dollar that were reserved
--   :input_tokens           bigint         tokens read
--   :output_tokens          bigint         tokens written
--   :cost_microdollars      bigint         what they cost
--   :user_id                tacet.user_id  the user
--   :question               text           a digest of what was asked
--   :reply                  text           a reply that may be sent; null for none

with kept as (
  update tacet.model_texts t set reply = :reply where t.user_id = :user_id and t.question = :question and :reply::text is not null
)
select tacet.settle_model_usage(
  :day::date, :reserved_tokens, :reserved_microdollars, :input_tokens, :output_tokens, :cost_microdollars);
