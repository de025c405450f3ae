extension ProductHost {
  /// Learning: numbers for times, no foreign keys, names in parts, reads as rows of actions.
  static let moodle = ProductHost(
    testDescription: "Moodle",
    tables: """
      create table mdl_user (
        id bigserial primary key, username varchar(100) not null, firstname varchar(100) not null, lastname varchar(100) not null,
        deleted smallint not null default 0, suspended smallint not null default 0, timezone varchar(100) not null default '99'
      );
      create table mdl_message_conversations (
        id bigserial primary key, type bigint not null default 1, name varchar(255), convhash varchar(40), timecreated bigint not null
      );
      create table mdl_message_conversation_members (
        id bigserial primary key, conversationid bigint not null, userid bigint not null, timecreated bigint not null
      );
      create table mdl_messages (
        id bigserial primary key, useridfrom bigint not null, conversationid bigint not null, subject text, fullmessage text,
        fullmessageformat smallint not null default 0, fullmessagehtml text, smallmessage text, timecreated bigint not null
      );
      create table mdl_message_user_actions (
        id bigserial primary key, userid bigint not null, messageid bigint not null, action bigint not null, timecreated bigint not null
      );
      create table mdl_message_users_blocked (
        id bigserial primary key, userid bigint not null, blockeduserid bigint not null, timecreated bigint
      );
      create table mdl_message_contacts (
        id bigserial primary key, userid bigint not null, contactid bigint not null, timecreated bigint
      )
      """,
    people: """
      insert into mdl_user (id, username, firstname, lastname)
      values (1, 'ann', 'Ann', 'Lee'), (2, 'bob', 'Bob', 'Ray'), (3, 'cy', 'Cy', 'Oz'), (4, 'dee', 'Dee', 'Ho');
      insert into mdl_message_conversations (id, timecreated) values (9, 0), (8, 0);
      insert into mdl_message_conversation_members (conversationid, userid, timecreated) values (9, 1, 0), (9, 2, 0), (9, 3, 0), (8, 4, 0)
      """,
    message: """
      insert into mdl_messages (useridfrom, conversationid, fullmessage, timecreated)
      values (1, 9, 'Hello', extract(epoch from now())) returning id
      """,
    title: "Ann Lee", text: "Hello", recipients: ["2", "3"])

  /// A plugin of WordPress: a counter of unread messages, and flags as numbers.
  static let buddyPress = ProductHost(
    testDescription: "BuddyPress",
    tables: """
      create table wp_users ("ID" bigserial primary key, user_login varchar(60) not null, display_name varchar(250) not null default '');
      create table wp_bp_messages_messages (
        id bigserial primary key, thread_id bigint not null, sender_id bigint not null, subject varchar(200) not null default '',
        message text not null, date_sent timestamp not null
      );
      create table wp_bp_messages_recipients (
        id bigserial primary key, user_id bigint not null, thread_id bigint not null, unread_count int not null default 0,
        sender_only smallint not null default 0, is_deleted smallint not null default 0
      );
      create table wp_bp_messages_meta (
        id bigserial primary key, message_id bigint not null, meta_key varchar(255), meta_value text
      );
      create table wp_bp_messages_notices (
        id bigserial primary key, subject varchar(200) not null, message text not null, date_sent timestamp not null, is_active smallint
      )
      """,
    people: """
      insert into wp_users ("ID", user_login, display_name) values (1, 'ann', 'Ann'), (2, 'bob', 'Bob'), (3, 'cy', 'Cy'), (4, 'd', 'D');
      insert into wp_bp_messages_recipients (user_id, thread_id, unread_count, is_deleted)
      values (1, 9, 0, 0), (2, 9, 3, 0), (3, 9, 0, 1), (2, 8, 1, 0), (4, 8, 0, 0)
      """,
    message: """
      insert into wp_bp_messages_messages (thread_id, sender_id, message, date_sent)
      values (9, 1, 'Hello', now() at time zone 'UTC') returning id
      """,
    title: "Ann", text: "Hello", recipients: ["2"], badge: 4)

  /// A forum's conversations: keys of another name, and states of recipients in words.
  static let xenForo = ProductHost(
    testDescription: "XenForo",
    tables: """
      create table xf_user (user_id serial primary key, username varchar(50) not null, timezone varchar(50) not null default 'Europe/London');
      create table xf_conversation_master (
        conversation_id serial primary key, title varchar(150) not null, user_id int not null, start_date bigint not null,
        conversation_open smallint not null default 1
      );
      create table xf_conversation_message (
        message_id serial primary key, conversation_id int not null, message_date bigint not null, user_id int not null,
        username varchar(50) not null, message text not null, attach_count smallint not null default 0
      );
      create table xf_conversation_recipient (
        conversation_id int not null, user_id int not null, recipient_state text not null
          check (recipient_state in ('active', 'deleted', 'deleted_ignored')),
        last_read_date bigint not null default 0, primary key (conversation_id, user_id)
      );
      create table xf_user_ignored (user_id int not null, ignored_user_id int not null, primary key (user_id, ignored_user_id))
      """,
    addition: """
      alter table xf_conversation_message add column id int4 generated always as (message_id) stored;
      create unique index on xf_conversation_message (id)
      """,
    edits: [
      ("text message", "  text message\n  written message_date"), ("? only", "  only recipient_state = 'active'"),
      ("read", "read marker last_read_date >= message_date"),
    ],
    people: """
      insert into xf_user (user_id, username) values (1, 'Ann'), (2, 'Bob'), (3, 'Cy'), (4, 'Dee');
      insert into xf_conversation_recipient (conversation_id, user_id, recipient_state)
      values (9, 1, 'active'), (9, 2, 'active'), (9, 3, 'deleted'), (9, 4, 'active');
      insert into xf_user_ignored values (4, 1)
      """,
    message: """
      insert into xf_conversation_message (conversation_id, message_date, user_id, username, message)
      values (9, extract(epoch from now()), 1, 'Ann', 'Hello') returning id
      """,
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update xf_conversation_recipient set last_read_date = extract(epoch from now()) + 1 where user_id = 2")

  /// The package cmgmyr/messenger of Laravel.
  static let laravelMessenger = ProductHost(
    testDescription: "Laravel messenger",
    tables: """
      create table users (id bigserial primary key, name varchar(255) not null, email varchar(255) not null, created_at timestamp(0));
      create table threads (
        id serial primary key, subject varchar(255) not null, created_at timestamp(0), updated_at timestamp(0), deleted_at timestamp(0)
      );
      create table messages (
        id serial primary key, thread_id int not null, user_id int not null, body text not null, created_at timestamp(0),
        updated_at timestamp(0), deleted_at timestamp(0)
      );
      create table participants (
        id serial primary key, thread_id int not null, user_id int not null, last_read timestamp(0), created_at timestamp(0),
        updated_at timestamp(0), deleted_at timestamp(0)
      )
      """,
    people: """
      insert into users (id, name, email) values (1, 'Ann', 'a'), (2, 'Bob', 'b'), (3, 'Cy', 'c'), (4, 'Dee', 'd');
      insert into threads (id, subject) values (9, 'x'), (8, 'y');
      insert into participants (thread_id, user_id, last_read, deleted_at)
      values (9, 1, null, null), (9, 2, '2020-01-01', null), (9, 3, null, now()), (8, 4, null, null)
      """,
    message: """
      insert into messages (thread_id, user_id, body, created_at) values (9, 1, 'Hello', now() at time zone 'UTC') returning id
      """,
    hidden: [
      "insert into messages (thread_id, user_id, body, created_at, deleted_at) values (9, 1, 'no', now(), now()) returning id"
    ],
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update participants set last_read = now() at time zone 'UTC' + interval '1 s' where user_id = 2")

  /// The extension of Flarum for private discussions, whose visitors have rows beside the recipients.
  static let byobu = ProductHost(
    testDescription: "Flarum with byobu",
    tables: """
      create table users (id serial primary key, username varchar(100) not null, is_email_confirmed boolean not null default true);
      create table groups (id serial primary key, name_singular varchar(100) not null);
      create table discussions (
        id serial primary key, title varchar(200) not null, user_id int references users, is_private boolean not null default false,
        last_post_number int
      );
      create table posts (
        id serial primary key, discussion_id int not null references discussions, number int, created_at timestamp not null,
        user_id int references users, type varchar(100), content text, edited_at timestamp, edited_user_id int references users,
        hidden_at timestamp, hidden_user_id int references users, is_private boolean not null default false
      );
      create table discussion_user (
        user_id int not null references users, discussion_id int not null references discussions, last_read_at timestamp,
        last_read_post_number int, subscription varchar(10), primary key (user_id, discussion_id)
      );
      create table recipients (
        id serial primary key, discussion_id int references discussions, user_id int references users, group_id int references groups,
        removed_at timestamp, created_at timestamp, updated_at timestamp
      )
      """,
    edits: [
      ("? members", "members recipients"), ("conversation discussion_id", "  conversation discussion_id"),
      ("seen", "  only removed_at is null"),
      (
        "read",
        "read discussion_user\n  conversation discussion_id\n  user user_id\n  marker last_read_post_number >= number"
      ),
    ],
    people: """
      insert into users (id, username) values (1, 'Ann'), (2, 'Bob'), (3, 'Cy'), (4, 'Dee');
      insert into discussions (id, title, is_private) values (9, 'x', true);
      insert into discussion_user (user_id, discussion_id, last_read_post_number) values (2, 9, 1), (4, 9, 1);
      insert into recipients (discussion_id, user_id, removed_at) values (9, 1, null), (9, 2, null), (9, 3, now())
      """,
    message: """
      insert into posts (discussion_id, number, created_at, user_id, type, content)
      values (9, 2, now() at time zone 'UTC', 1, 'comment', 'Hello') returning id
      """,
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update discussion_user set last_read_post_number = 2 where user_id = 2")

  /// The mail module of HumHub: the conversation is called message, and its messages are entries.
  static let humHub = ProductHost(
    testDescription: "HumHub mail",
    tables: """
      create table "user" (id serial primary key, username varchar(50), email varchar(150), status smallint not null default 1);
      create table profile (user_id int primary key references "user", firstname varchar(255), lastname varchar(255));
      create table message (
        id serial primary key, title varchar(255), created_at timestamp, created_by int references "user", updated_at timestamp
      );
      create table message_entry (
        id serial primary key, message_id int not null references message, user_id int not null references "user",
        content text not null, created_at timestamp, created_by int, updated_at timestamp
      );
      create table user_message (
        message_id int not null references message, user_id int not null references "user", is_originator smallint,
        last_viewed timestamp, created_at timestamp, primary key (message_id, user_id)
      )
      """,
    edits: [
      ("? messages", "messages message_entry"), ("? members", "members user_message"), ("users", "users profile"),
      ("id id", "  id user_id"),
      ("name username", "  name firstname"),
    ],
    people: """
      insert into "user" (id, username) values (1, 'ann'), (2, 'bob'), (3, 'cy');
      insert into profile values (1, 'Ann', 'Lee'), (2, 'Bob', 'Ray'), (3, 'Cy', 'Oz');
      insert into message (id, title) values (9, 'x'), (8, 'y');
      insert into user_message (message_id, user_id, last_viewed) values (9, 1, null), (9, 2, '2020-01-01'), (8, 3, null)
      """,
    message: """
      insert into message_entry (message_id, user_id, content, created_at) values (9, 1, 'Hello', now() at time zone 'UTC') returning id
      """,
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update user_message set last_viewed = now() at time zone 'UTC' + interval '1 s' where user_id = 2")

  /// The package nahid/talk of Laravel: conversations of two, and a flag on each message.
  static let talk = ProductHost(
    testDescription: "Laravel talk",
    tables: """
      create table users (id bigserial primary key, name varchar(255) not null, email varchar(255) not null);
      create table conversations (
        id serial primary key, user_one int not null, user_two int not null, status boolean not null default true, created_at timestamp
      );
      create table messages (
        id serial primary key, message text not null, is_seen boolean not null default false,
        deleted_from_sender boolean not null default false, deleted_from_receiver boolean not null default false,
        user_id int not null, conversation_id int not null, created_at timestamp, updated_at timestamp
      )
      """,
    people: """
      insert into users (id, name, email) values (1, 'Ann', 'a'), (2, 'Bob', 'b'), (3, 'Cy', 'c');
      insert into conversations (id, user_one, user_two) values (9, 2, 1), (8, 1, 3)
      """,
    message: """
      insert into messages (message, user_id, conversation_id, created_at)
      values ('Hello', 1, 9, now() at time zone 'UTC') returning id
      """,
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update messages set is_seen = true where conversation_id = 9")
}
