-- The register of push kinds, and what a push may carry beside its words.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.pushes and tacet.kinds, whose rows are not rewritten.

set client_min_messages = warning;

-- The kinds of push. Each file functions/kind_*.sql inserts its row.
--
-- name: as PushKinds in the service has it. event_kind: the kind of its events in the inbox and in the ledger's push_type; null
-- for a kind whose events have names that the host or a server chooses. content, audience: functions; see functions/kinds.sql.
create table if not exists tacet.push_kinds (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  event_kind text unique check (event_kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  content text not null,
  audience text not null
);

do $$
begin
  -- What the rules and the composer need of one event.
  --
  -- surface_id: what its recipients may be looking at, and by which preferences mute. actor_id: a user who gets no push of it.
  -- dated_at: when its life begins; null for when it was enqueued. life: how long it may be sent; null for the service's
  -- setting. quiet_policy: hold or drop; null for the recipient's wish. excluded_device: a token that gets no push. withheld:
  -- the reason why it is not sent any more; null while it may be. is_silent: whether nothing is shown, so that no preferences
  -- are asked. content: what the kind's file in Sources/Push/PushKinds decodes.
  if to_regtype('tacet.push_content') is null then
    create type tacet.push_content as (
      surface_id tacet.conversation_id, actor_id tacet.user_id, dated_at timestamptz, life interval, quiet_policy text,
      excluded_device text, withheld text, is_silent boolean, content json
    );
  end if;
  -- A recipient, and what is known of the user's looks at the surface.
  if to_regtype('tacet.push_recipient') is null then
    create type tacet.push_recipient as (user_id tacet.user_id, last_seen timestamptz, left_at timestamptz);
  end if;
end
$$;

-- presentation: members as POST /v1/pushes takes them. expires_in: the life of the push from send_at on; null for the
-- service's setting. campaign: the campaign that has written it; null for a server's. cap_group: the
-- group of which the user gets one push a day. withheld: why it is not to be sent; null while it is.
alter table tacet.pushes
  add column if not exists presentation jsonb not null default '{}',
  add column if not exists expires_in interval,
  add column if not exists send_at timestamptz,
  add column if not exists cancel_key text,
  add column if not exists campaign text,
  add column if not exists cap_group text,
  add column if not exists withheld text;

update tacet.pushes p
set campaign = d.campaign
from tacet.campaign_decisions d
where d.push_id = p.id and p.campaign is null;

create index if not exists pushes_cancel_key_idx on tacet.pushes (cancel_key) where cancel_key is not null;

-- presentation: members as above, with {column} in their texts. send_at_column: the column with the time of the push.
alter table tacet.kinds
  add column if not exists presentation jsonb not null default '{}',
  add column if not exists expires_in interval,
  add column if not exists send_at_column name,
  add column if not exists cancel_key text;

-- Keys whose pushes are cancelled, and until when their rows are kept.
create table if not exists tacet.cancellations (
  cancelled_at timestamptz not null default clock_timestamp(),
  cancel_key text primary key check (octet_length(cancel_key) between 1 and 255)
);

create index if not exists cancellations_cancelled_at_idx on tacet.cancellations (cancelled_at);

insert into tacet.migrations (version, name) values (31, '0031_push_content') on conflict do nothing;

reset client_min_messages;
