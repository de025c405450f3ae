extension HostSample {
  /// Rails with tables under Tacet's own names and other columns, polymorphic senders, private notes, and no tokens of APNs.
  package static let chatwoot = HostSample(
    testDescription: "Chatwoot",
    tables: """
      create table accounts (id serial primary key, name varchar not null, created_at timestamp not null default now());
      create table users (
        id serial primary key, provider varchar not null default 'email', uid varchar not null default '', name varchar not null,
        display_name varchar, email varchar, availability int default 0, type varchar, created_at timestamp not null default now()
      );
      create table contacts (
        id serial primary key, name varchar default '', email varchar, phone_number varchar, account_id int not null,
        identifier varchar, last_activity_at timestamp, blocked boolean not null default false
      );
      create table conversations (
        id serial primary key, account_id int not null, inbox_id int not null, status int not null default 0, assignee_id int,
        created_at timestamp not null default now(), contact_id bigint, display_id int not null, contact_last_seen_at timestamp,
        agent_last_seen_at timestamp, uuid uuid not null default gen_random_uuid(), assignee_last_seen_at timestamp
      );
      create table conversation_participants (
        id bigserial primary key, account_id bigint not null, user_id bigint not null, conversation_id bigint not null,
        created_at timestamp not null default now(), updated_at timestamp not null default now()
      );
      create unique index on conversation_participants (user_id, conversation_id);
      create index on conversation_participants (conversation_id);
      create table messages (
        id serial primary key, content text, account_id int not null, inbox_id int not null, conversation_id int not null,
        message_type int not null, created_at timestamp not null default now(), updated_at timestamp not null default now(),
        private boolean not null default false, status int default 0, source_id varchar, content_type int not null default 0,
        content_attributes json default '{}', sender_type varchar, sender_id bigint, processed_message_content text
      );
      create index on messages (conversation_id);
      create table mentions (
        id bigserial primary key, user_id bigint not null, conversation_id bigint not null, account_id bigint not null,
        mentioned_at timestamp not null, unique (user_id, conversation_id)
      );
      create table notes (
        id bigserial primary key, content text not null, account_id bigint not null, contact_id bigint not null, user_id bigint
      );
      create table inbox_members (id serial primary key, user_id int not null, inbox_id int not null);
      create table access_tokens (id bigserial primary key, owner_type varchar, owner_id bigint, token varchar);
      create table notification_subscriptions (
        id bigserial primary key, user_id bigint not null, subscription_type int not null,
        subscription_attributes jsonb not null default '{}', identifier text
      )
      """,
    edits: [
      (
        "? sender",
        """
        sender case when sender_type like '%User' then sender_id end
        sender_name (select name from public.contacts x where x.id = sender_id and sender_type like '%Contact')
        """
      ), ("? only", "only message_type in (0, 1)"),
    ],
    mapping: """
      messages public.messages
      conversation conversation_id
      sender case when sender_type like '%User' then sender_id end
      sender_name (select name from public.contacts x where x.id = sender_id and sende
      text content
      written created_at
      only message_type in (0, 1)
      only private is not true
      only coalesce(sender_type::text, '') !~* '^(system|draft|internal|staff|whisper|
      members public.conversation_participants
      conversation conversation_id
      user user_id
      read none
      users public.users
      id id
      name coalesce(nullif(display_name, ''), name)
      devices own
      """,
    migrateOptions: ["--message-ids", "bigint", "--conversation-ids", "bigint", "--user-ids", "bigint"],
    people: """
      insert into users (id, name) values (1, 'Ann'), (2, 'Bob');
      insert into contacts (id, name, account_id) values (2, 'Carla', 1);
      insert into conversations (id, account_id, inbox_id, display_id) values (9, 1, 1, 1);
      insert into conversation_participants (account_id, user_id, conversation_id) values (1, 2, 9);
      select tacet.register_device(2, '$token', null, null, null, null, null, 50)
      """,
    reader: "2",
    message: """
      insert into messages (account_id, inbox_id, conversation_id, message_type, content, sender_type, sender_id, created_at)
      values (1, 1, 9, 0, 'Hello', 'Contact', 2, now() at time zone 'UTC') returning id
      """,
    note: """
      insert into messages (account_id, inbox_id, conversation_id, message_type, content, private, sender_type, sender_id)
      values (1, 1, 9, 1, 'rude', true, 'User', 1), (1, 1, 9, 2, 'assigned', false, null, null)
      """,
    conversation: "9", shown: ("Carla", "Hello"))
}
