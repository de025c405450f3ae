extension ProductHost {
  /// Mastodon's direct messages: posts that only those get whom they mention, beside public ones in the same table.
  static let mastodon = ProductHost(
    testDescription: "Mastodon",
    tables: """
      create table accounts (
        id bigserial primary key, username varchar not null default '', domain varchar, note text not null default '',
        display_name varchar not null default '', created_at timestamp not null default now(), silenced_at timestamp,
        suspended_at timestamp, memorial boolean not null default false, locked boolean not null default false
      );
      create table users (
        id bigserial primary key, email varchar not null default '', account_id bigint not null references accounts,
        disabled boolean not null default false, approved boolean not null default true, time_zone varchar
      );
      create table conversations (id bigserial primary key, uri varchar, created_at timestamp not null default now());
      create table statuses (
        id bigserial primary key, uri varchar, text text not null default '', created_at timestamp not null default now(),
        updated_at timestamp not null default now(), in_reply_to_id bigint references statuses, reblog_of_id bigint references statuses,
        url varchar, sensitive boolean not null default false, visibility int not null default 0, spoiler_text text not null default '',
        reply boolean not null default false, language varchar, conversation_id bigint, local boolean,
        account_id bigint not null references accounts, application_id bigint, in_reply_to_account_id bigint references accounts,
        poll_id bigint, deleted_at timestamp, edited_at timestamp, trendable boolean, ordered_media_attachment_ids bigint[]
      );
      create index on statuses (conversation_id);
      create table status_edits (
        id bigserial primary key, status_id bigint not null references statuses, account_id bigint references accounts,
        text text not null default '', created_at timestamp not null default now()
      );
      create table scheduled_statuses (id bigserial primary key, account_id bigint references accounts, scheduled_at timestamp, params jsonb);
      create table mentions (
        id bigserial primary key, status_id bigint not null references statuses, created_at timestamp not null default now(),
        account_id bigint not null references accounts, silent boolean not null default false, unique (account_id, status_id)
      );
      create table account_conversations (
        id bigserial primary key, account_id bigint not null references accounts,
        conversation_id bigint not null references conversations, participant_account_ids bigint[] not null default '{}',
        status_ids bigint[] not null default '{}', last_status_id bigint, unread boolean not null default false,
        unique (account_id, conversation_id, participant_account_ids)
      );
      create table conversation_mutes (
        id bigserial primary key, conversation_id bigint not null references conversations, account_id bigint not null references accounts,
        unique (account_id, conversation_id)
      );
      create table account_notes (
        id bigserial primary key, account_id bigint references accounts, target_account_id bigint references accounts,
        comment text not null, created_at timestamp not null default now()
      );
      create table blocks (
        id bigserial primary key, account_id bigint not null references accounts, target_account_id bigint not null references accounts,
        uri varchar, unique (account_id, target_account_id)
      );
      create table mutes (
        id bigserial primary key, account_id bigint not null references accounts, target_account_id bigint not null references accounts,
        hide_notifications boolean not null default true, expires_at timestamp, unique (account_id, target_account_id)
      );
      create table markers (
        id bigserial primary key, user_id bigint references users, timeline varchar not null default '', last_read_id bigint not null
      );
      create table web_push_subscriptions (
        id bigserial primary key, endpoint varchar not null, key_p256dh varchar not null, key_auth varchar not null, user_id bigint
      );
      create table oauth_access_tokens (
        id bigserial primary key, token varchar not null unique, refresh_token varchar, resource_owner_id bigint references users
      )
      """,
    edits: [
      ("? messages", "messages public.statuses"), ("conversation", "  conversation id"),
      ("text text", "  text text\n  only visibility = 3"), ("members", "members mentions"),
      ("conversation conversation_id", "  conversation status_id\n  only not silent"),
    ],
    people: """
      insert into accounts (id, username, display_name) values (1, 'ann', 'Ann'), (2, 'bob', ''), (3, 'cy', ''), (4, 'dee', ''), (5, 'ed', '');
      insert into conversations (id) values (9);
      insert into account_conversations (account_id, conversation_id) values (1, 9), (2, 9), (5, 9);
      insert into blocks (account_id, target_account_id) values (3, 1)
      """,
    message: """
      with s as (
        insert into statuses (text, account_id, conversation_id, visibility) values ('Hello', 1, 9, 3) returning id
      ), m as (
        insert into mentions (status_id, account_id, silent) select s.id, a, a = 4 from s cross join unnest(array[2, 3, 4]) as a
      )
      select id from s
      """,
    hidden: [
      "insert into statuses (text, account_id, conversation_id) values ('to all', 1, 9) returning id",
      "insert into statuses (text, account_id, conversation_id, visibility, deleted_at) values ('x', 1, 9, 3, now()) returning id",
    ],
    title: "Ann", text: "Hello", recipients: ["2"])

  /// Synapse: messages are events beside many others, their text is in another table as JSON, and nothing is called id.
  static let synapse = ProductHost(
    testDescription: "Synapse",
    tables: """
      create table events (
        topological_ordering bigint not null, event_id text not null unique, type text not null, room_id text not null, content text,
        unrecognized_keys text, processed boolean not null, outlier boolean not null, depth bigint not null default 0,
        origin_server_ts bigint, received_ts bigint, sender text, contains_url boolean, instance_name text, stream_ordering bigint,
        state_key text, rejection_reason text
      );
      create unique index on events (stream_ordering);
      create table event_json (
        event_id text not null unique, room_id text not null, internal_metadata text not null, json text not null, format_version int
      );
      create table event_reports (
        id bigint primary key, received_ts bigint not null, room_id text not null, event_id text not null, user_id text not null,
        reason text, content text
      );
      create table event_search (event_id text unique, room_id text, sender text, key text, vector tsvector, stream_ordering bigint);
      create table room_memberships (
        event_id text not null unique, user_id text not null, sender text not null, room_id text not null, membership text not null,
        forgotten int default 0, display_name text, avatar_url text
      );
      create table local_current_membership (room_id text not null, user_id text not null, event_id text not null, membership text not null);
      create unique index on local_current_membership (user_id, room_id);
      create table receipts_linearized (
        stream_id bigint not null, room_id text not null, receipt_type text not null, user_id text not null, event_id text not null,
        data text not null, event_stream_ordering bigint, thread_id text
      );
      create table receipts_graph (
        room_id text not null, receipt_type text not null, user_id text not null, event_ids text not null, data text not null
      );
      create table users (
        name text unique, password_hash text, creation_ts bigint, admin smallint not null default 0, is_guest smallint not null default 0,
        appservice_id text, deactivated smallint not null default 0, shadow_banned boolean
      );
      create table profiles (user_id text not null unique, displayname text, avatar_url text, full_user_id text unique);
      create table ignored_users (ignorer_user_id text not null, ignored_user_id text not null);
      create unique index on ignored_users (ignorer_user_id, ignored_user_id);
      create table devices (
        user_id text not null, device_id text not null, display_name text, last_seen bigint, ip text, user_agent text, hidden boolean,
        unique (user_id, device_id)
      );
      create table pushers (
        id bigint primary key, user_name text not null, kind text not null, app_id text not null, pushkey text not null, ts bigint
      );
      create table access_tokens (id bigint primary key, user_id text not null, device_id text, token text not null unique)
      """,
    addition: """
      alter table public.events add column id text generated always as (event_id) stored;
      create unique index on events (id)
      """,
    edits: [
      ("? messages", "messages public.events"),
      (
        "text",
        "  text (select j.json::jsonb #>> '{content,body}' from public.event_json j where j.event_id = events.event_id)"
      ),
      ("only coalesce(type", "  only type = 'm.room.message'"),
      ("? members", "members public.local_current_membership"), ("? users", "users public.users"),
      (
        "name",
        "  name (select p.displayname from public.profiles p where p.full_user_id = users.name)\n  only coalesce(deactivated, 0) = 0"
      ),
    ],
    people: """
      insert into users (name) values ('@ann:x'), ('@bob:x'), ('@cy:x'), ('@dee:x'), ('@ed:x');
      insert into profiles values ('ann', 'Ann', null, '@ann:x'), ('bob', 'Bob', null, '@bob:x');
      insert into local_current_membership values
        ('!r:x', '@ann:x', '$1', 'join'), ('!r:x', '@bob:x', '$2', 'join'), ('!r:x', '@cy:x', '$3', 'leave'),
        ('!r:x', '@dee:x', '$4', 'invite'), ('!r:x', '@ed:x', '$5', 'join'), ('!q:x', '@cy:x', '$6', 'join');
      insert into ignored_users values ('@ed:x', '@ann:x');
      insert into receipts_linearized (stream_id, room_id, receipt_type, user_id, event_id, data, event_stream_ordering)
      values (1, '!r:x', 'm.read', '@bob:x', '$0', '', 5), (2, '!r:x', 'm.read.private', '@bob:x', '$0', '', 7);
      insert into event_json values ('$m', '!r:x', '', '{"content": {"body": "Hello"}}', 3)
      """,
    message: """
      insert into events (topological_ordering, event_id, type, room_id, processed, outlier, received_ts, sender, stream_ordering)
      values (1, '$m', 'm.room.message', '!r:x', true, false, extract(epoch from now()) * 1000, '@ann:x', 9) returning id
      """,
    hidden: [
      """
      insert into events (topological_ordering, event_id, type, room_id, processed, outlier, received_ts, sender, stream_ordering)
      values (1, '$t', 'm.room.topic', '!r:x', true, false, extract(epoch from now()) * 1000, '@ann:x', 8) returning id
      """
    ],
    title: "Ann", text: "Hello", recipients: ["@bob:x"], badge: 1,
    read: "update receipts_linearized set event_stream_ordering = 9 where stream_id = 2")
}
