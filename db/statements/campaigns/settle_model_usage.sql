-- Replaces what was reserved by what was used.
--
--   :day                    text    the day
--   :reserved_tokens        bigint  tokens that were reserved
--   :reserved_microdollars  bigint  millionths of a dollar that were reserved
--   :input_tokens           bigint  tokens read
--   :output_tokens          bigint  tokens written
--   :cost_microdollars      bigint  what they cost

select tacet.settle_model_usage(
  :day::date, :reserved_tokens, :reserved_microdollars, :input_tokens, :output_tokens, :cost_microdollars);
