extension HostSample {
  /// Chat beside a forum: numbers of two widths as ids, times without a zone, and no tokens of APNs.
  package static let discourse = HostSample(
    testDescription: "Discourse",
    tables: """
      create table users (
        id serial primary key, username varchar(60) not null, created_at timestamp not null, updated_at timestamp not null,
        name varchar, last_posted_at timestamp, active boolean not null default false, username_lower varchar(60) not null,
        last_seen_at timestamp, admin boolean not null default false, trust_level int not null default 1, locale varchar(10)
      );
      create table topics (
        id serial primary key, title varchar not null, last_posted_at timestamp, created_at timestamp not null,
        user_id int, reply_count int not null default 0, deleted_at timestamp, highest_post_number int not null default 0
      );
      create table posts (
        id serial primary key, user_id int, topic_id int not null, post_number int not null, raw text not null,
        cooked text not null, created_at timestamp not null, updated_at timestamp not null, reply_to_post_number int,
        deleted_at timestamp, post_type int not null default 1, last_editor_id int, hidden boolean not null default false,
        reply_to_user_id int, deleted_by_id int, locked_by_id int
      );
      create table topic_users (
        id serial primary key, user_id int not null, topic_id int not null, posted boolean not null default false,
        last_read_post_number int, last_visited_at timestamp, first_visited_at timestamp,
        notification_level int not null default 1
      );
      create unique index on topic_users (topic_id, user_id);
      create table chat_channels (
        id bigserial primary key, chatable_id bigint not null, deleted_at timestamp, deleted_by_id int,
        chatable_type varchar not null, created_at timestamp not null, updated_at timestamp not null, name varchar,
        description text, status int not null default 0, user_count int not null default 0, slug varchar, type varchar,
        threading_enabled boolean not null default false, last_message_id bigint
      );
      create table chat_messages (
        id bigserial primary key, chat_channel_id bigint not null, user_id int, created_at timestamp not null default now(),
        updated_at timestamp not null default now(), deleted_at timestamp, deleted_by_id int, in_reply_to_id bigint, message text,
        cooked text, cooked_version int, last_editor_id int not null, thread_id bigint, streaming boolean not null default false
      );
      create index on chat_messages (chat_channel_id, created_at);
      create table user_chat_channel_memberships (
        id bigserial primary key, user_id int not null, chat_channel_id bigint not null, last_read_message_id bigint,
        following boolean not null default false, muted boolean not null default false,
        created_at timestamp not null default now(), updated_at timestamp not null default now(),
        last_unread_mention_when_emailed_id bigint, join_mode int not null default 0, last_viewed_at timestamp not null,
        notification_level int not null default 1
      );
      create unique index on user_chat_channel_memberships (user_id, chat_channel_id);
      create table user_chat_thread_memberships (
        id bigserial primary key, user_id bigint not null, thread_id bigint not null, last_read_message_id bigint,
        notification_level int not null default 2
      );
      create table chat_message_reactions (
        id bigserial primary key, chat_message_id bigint, user_id int, emoji varchar, created_at timestamp not null
      );
      create table chat_drafts (
        id bigserial primary key, user_id int not null, chat_channel_id bigint not null, data text not null
      );
      create table user_auth_tokens (id serial primary key, user_id int not null, auth_token varchar not null);
      create table push_subscriptions (
        id bigserial primary key, user_id int not null, data varchar not null, created_at timestamp not null
      )
      """,
    edits: [("? only", "wants coalesce(notification_level, 1) <> 0")],
    mapping: """
      messages public.chat_messages
      conversation chat_channel_id
      sender user_id
      text message
      written created_at
      only deleted_at is null
      only deleted_by_id is null
      members public.user_chat_channel_memberships
      conversation chat_channel_id
      user user_id
      seen last_viewed_at
      wants following is not false
      wants muted is not true
      wants coalesce(notification_level, 1) <> 0
      read marker last_read_message_id >= id
      users public.users
      id id
      name coalesce(nullif(name, ''), username)
      only active is not false
      devices own
      """,
    migrateOptions: ["--message-ids", "bigint", "--conversation-ids", "bigint", "--user-ids", "bigint"],
    people: """
      insert into users (id, username, username_lower, name, active, created_at, updated_at)
      values (1, 'ann', 'ann', 'Ann', true, now(), now()), (2, 'bob', 'bob', '', true, now(), now()),
        (3, 'cy', 'cy', 'Cy', true, now(), now());
      insert into chat_channels (id, chatable_id, chatable_type, created_at, updated_at) values (7, 1, 'Category', now(), now());
      insert into user_chat_channel_memberships (user_id, chat_channel_id, following, muted, last_viewed_at)
      values (1, 7, true, false, '2020-01-01'), (2, 7, true, false, '2020-01-01'), (3, 7, true, true, '2020-01-01');
      select tacet.register_device(2, '$token', null, null, null, null, null, 50)
      """,
    reader: "2",
    message: """
      insert into chat_messages (chat_channel_id, user_id, message, last_editor_id, created_at)
      values (7, 1, 'Hello', 1, now() at time zone 'UTC') returning id
      """,
    note: """
      insert into chat_messages (chat_channel_id, user_id, message, last_editor_id, deleted_at)
      values (7, 1, 'Oops', 1, now() at time zone 'UTC')
      """,
    conversation: "7", shown: ("Ann", "Hello"))
}
