-- Pushes that servers ask for.

-- name: submit_push(
--   user_id tacet.user_id, kind text, title text, body text, data text, collapse_id text, idempotency_key text, presentation text,
--   send_at_us bigint, expires_in_us bigint, cancel_key text, cap_group text)
-- Stores and queues a push that a server asks for, in one transaction.
--
-- data: null for none. collapse_id: the collapse identifier; null for none. idempotency_key: null for none. presentation: how it is
-- shown, as JSON. send_at_us: when to send it; null for now. expires_in_us: how long it may be sent from then on; null for the
-- service's setting. cancel_key: the key that cancels it; null for none. cap_group: the group whose push of the user's day it is;
-- null for none.
--
-- It waits for the disk, whatever the session does otherwise, because there is no transaction of the host behind it.
-- Returns no row when the key is taken. Two requests with one key wait for each other here.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), cap as materialized (
  -- A repeated request takes nothing.
  select tacet.take_cap(:user_id, :cap_group) as is_taken
  where :cap_group::text is not null
    and not exists (select from tacet.pushes p where p.idempotency_key = :idempotency_key)
), entered as (
  insert into tacet.pushes (
    user_id, kind, title, body, data, collapse_id, idempotency_key, presentation, send_at, expires_in, cancel_key,
    cap_group, withheld
  )
  select
    :user_id, :kind, :title, :body, :data::json, :collapse_id, :idempotency_key, :presentation::jsonb,
    to_timestamp(:send_at_us / 1000000.0), :expires_in_us * interval '1 microsecond', :cancel_key, :cap_group,
    (select 'pushed_today' from cap c where not c.is_taken)
  from durable
  on conflict (idempotency_key) where idempotency_key is not null do nothing
  returning id, user_id, kind, created_at, send_at
), queued as (
  insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, available_at)
  select e.id, e.kind, tacet.turn_of(e.user_id), e.created_at, greatest(clock_timestamp(), e.send_at) from entered e
)
select e.id, (extract(epoch from e.created_at) * 1000000)::bigint as created_us, true as is_same from entered e;

-- name: submitted_push(
--   user_id tacet.user_id, kind text, title text, body text, data text, collapse_id text, idempotency_key text, presentation text,
--   send_at_us bigint, expires_in_us bigint, cancel_key text, cap_group text)
-- Returns the push of an idempotency key, and whether it is the one described.

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

-- name: waiting_pushes(user_id tacet.user_id, rows_max bigint)
-- Returns a user's pushes that wait, the next first; see tacet.waiting_pushes.

select w.push_id as id, w.kind, left(w.title, 4096) as title, tacet.unix_us(w.due_at) as due_at, w.state, w.cancel_key
from tacet.waiting_pushes(:user_id) w
limit :rows_max;

-- name: cancel_pushes(cancel_key text)
-- Cancels the pushes of a key; see tacet.cancel_pushes. Returns how many wait.

select tacet.cancel_pushes(:cancel_key) as waiting;

-- name: cancel_user_pushes(user_id tacet.user_id)
-- Cancels all pushes of a user that wait; see tacet.cancel_user_pushes. Returns how many.

select tacet.cancel_user_pushes(:user_id) as cancelled;
