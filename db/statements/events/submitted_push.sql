-- Returns the push of an idempotency key, and whether it is the one described. Parameters as in submit_push.
--
--   :user_id          tacet.user_id  the recipient
--   :kind             text           the kind
--   :title            text           the title
--   :body             text           the body
--   :data             text           the data
--   :collapse_id      text           the collapse identifier
--   :idempotency_key  text           the idempotency key
--   :presentation     text           how it is shown, as JSON
--   :send_at_us       bigint         when to send it
--   :expires_in_us    bigint         how long it may be sent
--   :cancel_key       text           the key that cancels it
--   :cap_group        text           the cap group

select
  p.id, (extract(epoch from p.created_at) * 1000000)::bigint as created_us,
  p.user_id = :user_id and p.kind = :kind and p.title = :title and p.body = :body
    and p.data::text is not distinct from :data
    and p.collapse_id is not distinct from :collapse_id and p.presentation = :presentation::jsonb
    and p.send_at is not distinct from to_timestamp(:send_at_us / 1000000.0)
    and p.expires_in is not distinct from :expires_in_us * interval '1 microsecond'
    and p.cancel_key is not distinct from :cancel_key and p.cap_group is not distinct from :cap_group as is_same
from tacet.pushes p
where p.idempotency_key = :idempotency_key;
