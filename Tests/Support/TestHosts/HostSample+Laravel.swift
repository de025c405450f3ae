extension HostSample {
  /// The package musonza/chat for Laravel: messages name a participation instead of a user, and the user is polymorphic.
  package static let laravelChat = HostSample(
    testDescription: "Laravel chat",
    tables: """
      create table users (
        id bigserial primary key, name varchar(255) not null, email varchar(255) not null unique,
        password varchar(255) not null, created_at timestamp(0), updated_at timestamp(0)
      );
      create table chat_conversations (
        id bigserial primary key, private boolean not null default true, direct_message boolean not null default false,
        data text, created_at timestamp(0), updated_at timestamp(0)
      );
      create table chat_participation (
        id bigserial primary key, conversation_id bigint not null references chat_conversations on delete cascade,
        messageable_id bigint not null, messageable_type varchar(255) not null, settings text, created_at timestamp(0),
        updated_at timestamp(0), unique (conversation_id, messageable_id, messageable_type)
      );
      create table chat_messages (
        id bigserial primary key, body text not null,
        conversation_id bigint not null references chat_conversations on delete cascade,
        participation_id bigint references chat_participation on delete set null, type varchar(255) not null default 'text',
        data text, created_at timestamp(0), updated_at timestamp(0)
      );
      create table chat_message_notifications (
        id bigserial primary key, message_id bigint not null references chat_messages on delete cascade,
        messageable_id bigint not null, messageable_type varchar(255) not null,
        conversation_id bigint not null references chat_conversations on delete cascade,
        participation_id bigint not null references chat_participation on delete cascade,
        is_seen boolean not null default false, is_sender boolean not null default false, deleted_at timestamp(0)
      );
      create table personal_access_tokens (
        id bigserial primary key, tokenable_type varchar(255) not null, tokenable_id bigint not null, name varchar(255) not null,
        token varchar(64) not null unique
      )
      """,
    edits: [
      ("? sender", "sender (select x.messageable_id from public.chat_participation x where x.id = participation_id)"),
      ("? user", "user messageable_id\nonly messageable_type like '%User'"),
    ],
    mapping: """
      messages public.chat_messages
      conversation conversation_id
      sender (select x.messageable_id from public.chat_participation x where x.id = pa
      text body
      written created_at
      only coalesce(type::text, '') !~* '^(system|draft|internal|staff|whisper|schedul
      members public.chat_participation
      conversation conversation_id
      user messageable_id
      only messageable_type like '%User'
      read none
      users public.users
      id id
      name name
      devices own
      """,
    migrateOptions: ["--message-ids", "bigint", "--conversation-ids", "bigint", "--user-ids", "bigint"],
    people: """
      insert into users (id, name, email, password) values (21, 'Ann', 'a', ''), (22, 'Bob', 'b', '');
      insert into chat_conversations (id) values (3);
      insert into chat_participation (id, conversation_id, messageable_id, messageable_type)
      values (31, 3, 21, 'App\\Models\\User'), (32, 3, 22, 'App\\Models\\User'), (33, 3, 22, 'App\\Models\\Bot');
      select tacet.register_device(22, '$token', null, null, null, null, null, 50)
      """,
    reader: "22",
    message: """
      insert into chat_messages (body, conversation_id, participation_id, created_at)
      values ('Hello', 3, 31, now() at time zone 'UTC') returning id
      """,
    note: "insert into chat_messages (body, conversation_id, participation_id, type) values ('left', 3, 31, 'system')",
    conversation: "3", shown: ("Ann", "Hello"))
}
