-- Returns the push of an idempotency key, and whether it is the one described. Parameters as in submit_push.
--
--   :user_id          uuid  the recipient
--   :kind             text  the kind
--   :title            text  the title
--   :body             text  the body
--   :data             text  the data
--   :collapse_id      text  the collapse identifier
--   :idempotency_key  text  the idempotency key

select
  p.id, (extract(epoch from p.created_at) * 1000000)::bigint as created_us,
  p.user_id = :user_id and p.kind = :kind and p.title = :title and p.body = :body
    and p.data::text is not distinct from :data
    and p.collapse_id is not distinct from :collapse_id as is_same
from tacet.pushes p
where p.idempotency_key = :idempotency_key;
