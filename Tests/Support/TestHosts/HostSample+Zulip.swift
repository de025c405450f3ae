extension HostSample {
  /// Django: prefixed names in the singular, recipients as conversations, and numbers for kinds.
  package static let zulip = HostSample(
    testDescription: "Zulip",
    tables: """
      create table zerver_realm (id serial primary key, string_id varchar(40) not null);
      create table zerver_recipient (id serial primary key, type_id int not null, type smallint not null);
      create table zerver_userprofile (
        id serial primary key, password varchar(128) not null, last_login timestamptz, delivery_email varchar(254) not null,
        email varchar(254) not null, full_name varchar(100) not null, is_active boolean not null default true,
        is_bot boolean not null default false, timezone varchar(40) not null default '', default_language varchar(50) not null,
        realm_id int not null references zerver_realm, recipient_id int references zerver_recipient
      );
      create table zerver_stream (
        id serial primary key, name varchar(60) not null, date_created timestamptz not null default now(),
        description varchar(1024) not null, deactivated boolean not null, creator_id int references zerver_userprofile,
        recipient_id int references zerver_recipient, realm_id int not null references zerver_realm
      );
      create table zerver_message (
        id serial primary key, subject varchar(60) not null, content text not null, rendered_content text,
        date_sent timestamptz not null, last_edit_time timestamptz, edit_history text, has_attachment boolean not null,
        has_image boolean not null, has_link boolean not null, recipient_id int not null references zerver_recipient,
        sender_id int not null references zerver_userprofile, realm_id int not null references zerver_realm,
        type smallint not null default 1
      );
      create index on zerver_message (recipient_id);
      create table zerver_archivedmessage (
        id int primary key, subject varchar(60) not null, content text not null, date_sent timestamptz not null,
        recipient_id int not null references zerver_recipient, sender_id int not null references zerver_userprofile
      );
      create table zerver_scheduledmessage (
        id serial primary key, content text not null, scheduled_timestamp timestamptz not null,
        recipient_id int not null references zerver_recipient, sender_id int not null references zerver_userprofile
      );
      create table zerver_draft (
        id serial primary key, topic varchar(60) not null, content text not null, last_edit_time timestamptz not null,
        recipient_id int references zerver_recipient, user_profile_id int not null references zerver_userprofile
      );
      create table zerver_subscription (
        id serial primary key, active boolean not null default true, is_user_active boolean not null default true,
        is_muted boolean, color varchar(10) not null default '', pin_to_top boolean not null default false,
        push_notifications boolean, recipient_id int not null references zerver_recipient,
        user_profile_id int not null references zerver_userprofile, unique (user_profile_id, recipient_id)
      );
      create table zerver_usermessage (
        id bigserial primary key, flags bigint not null default 0, message_id int not null references zerver_message,
        user_profile_id int not null references zerver_userprofile, unique (user_profile_id, message_id)
      );
      create table zerver_userpresence (
        id serial primary key, last_active_time timestamptz, last_connected_time timestamptz,
        user_profile_id int not null unique references zerver_userprofile
      );
      create table zerver_pushdevicetoken (
        id serial primary key, kind smallint not null, token varchar(4096) not null, last_updated timestamptz not null,
        ios_app_id text, user_id int not null references zerver_userprofile
      );
      create index on zerver_pushdevicetoken (user_id)
      """,
    edits: [("? only", "only type = 1")],
    mapping: """
      messages public.zerver_message
      conversation recipient_id
      sender sender_id
      text content
      written date_sent
      only type = 1
      members public.zerver_subscription
      conversation recipient_id
      user user_profile_id
      only active is not false
      only is_user_active is not false
      wants is_muted is not true
      wants push_notifications is not false
      read none
      users public.zerver_userprofile
      id id
      name full_name
      zone timezone
      only is_active is not false
      devices public.zerver_pushdevicetoken
      user user_id
      token token
      app ios_app_id
      registered last_updated
      dead delete
      """,
    migrateOptions: ["--message-ids", "bigint", "--conversation-ids", "bigint", "--user-ids", "bigint"],
    people: """
      insert into zerver_realm values (1, 'main');
      insert into zerver_recipient values (5, 1, 2);
      insert into zerver_userprofile (id, password, delivery_email, email, full_name, timezone, default_language, realm_id)
      values (1, '', 'a', 'a', 'Ann', 'Europe/Berlin', 'en', 1), (2, '', 'b', 'b', 'Bob', '', 'en', 1);
      insert into zerver_subscription (recipient_id, user_profile_id) values (5, 1), (5, 2);
      insert into zerver_pushdevicetoken (kind, token, last_updated, user_id, ios_app_id)
      values (1, '$token', '2026-01-01', 2, null), (2, 'dX3:APA91b_x', '2026-01-01', 2, null)
      """,
    reader: "2",
    message: """
      insert into zerver_message (subject, content, date_sent, has_attachment, has_image, has_link, recipient_id, sender_id, realm_id)
      values ('lunch', 'Hello', now(), false, false, false, 5, 1, 1) returning id
      """,
    note: """
      insert into zerver_message (
        subject, content, date_sent, has_attachment, has_image, has_link, recipient_id, sender_id, realm_id, type)
      values ('lunch', 'resolved', now(), false, false, false, 5, 1, 1, 2)
      """,
    conversation: "5", shown: ("Ann", "Hello"))
}
