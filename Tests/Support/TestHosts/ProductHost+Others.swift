extension ProductHost {
  /// django-private-chat2: the row names the sender and the recipient.
  static let privateChat = ProductHost(
    testDescription: "django-private-chat2",
    tables: """
      create table auth_user (
        id serial primary key, username varchar(150) not null, first_name varchar(150) not null default '',
        last_name varchar(150) not null default '', is_active boolean not null default true, password varchar(128)
      );
      create table django_private_chat2_dialogsmodel (
        id bigserial primary key, user1_id int not null references auth_user, user2_id int not null references auth_user,
        created timestamptz not null default now(), modified timestamptz
      );
      create table django_private_chat2_messagemodel (
        id bigserial primary key, sender_id int not null references auth_user, recipient_id int not null references auth_user,
        text text not null, file_id uuid, read boolean not null default false, is_removed boolean not null default false,
        created timestamptz not null default now(), modified timestamptz not null default now()
      )
      """,
    people: """
      insert into auth_user (id, username, first_name, last_name) values (1, 'ann', 'Ann', 'Lee'), (2, 'bob', '', ''), (3, 'cy', '', '');
      insert into django_private_chat2_messagemodel (sender_id, recipient_id, text, read) values (3, 2, 'old', true), (2, 3, 'x', false)
      """,
    message:
      "insert into django_private_chat2_messagemodel (sender_id, recipient_id, text) values (1, 2, 'Hello') returning id",
    hidden: [
      "insert into django_private_chat2_messagemodel (sender_id, recipient_id, text, is_removed) values (1, 2, 'x', true) returning id"
    ],
    title: "Ann Lee", text: "Hello", recipients: ["2"], badge: 1,
    read: "update django_private_chat2_messagemodel set read = true where recipient_id = 2")

  /// A messenger with Prisma: capitals, and tables of two columns A and B that nobody has written by hand.
  static let prismaMessenger = ProductHost(
    testDescription: "a Prisma messenger",
    tables: """
      create table "User" (
        id text primary key, name text, email text unique, "emailVerified" timestamp(3), image text, "hashedPassword" text,
        "createdAt" timestamp(3) not null default now(), "updatedAt" timestamp(3)
      );
      create table "Account" (
        id text primary key, "userId" text not null references "User", type text not null, provider text not null,
        "providerAccountId" text not null, refresh_token text, access_token text, id_token text
      );
      create table "Conversation" (
        id text primary key, name text, "isGroup" boolean, "createdAt" timestamp(3) not null default now(),
        "lastMessageAt" timestamp(3) not null default now()
      );
      create table "Message" (
        id text primary key, body text, image text, "createdAt" timestamp(3) not null default now(),
        "conversationId" text not null references "Conversation", "senderId" text not null references "User"
      );
      create table "_ConversationToUser" ("A" text not null references "Conversation", "B" text not null references "User");
      create unique index "_ConversationToUser_AB_unique" on "_ConversationToUser" ("A", "B");
      create index "_ConversationToUser_B_index" on "_ConversationToUser" ("B");
      create table "_Seen" ("A" text not null references "Message", "B" text not null references "User");
      create unique index "_Seen_AB_unique" on "_Seen" ("A", "B")
      """,
    people: """
      insert into "User" (id, name) values ('ann', 'Ann'), ('bob', 'Bob'), ('cy', 'Cy'), ('dee', 'Dee');
      insert into "Conversation" (id) values ('c9'), ('c8');
      insert into "_ConversationToUser" values ('c9', 'ann'), ('c9', 'bob'), ('c9', 'cy'), ('c8', 'dee')
      """,
    message: """
      insert into "Message" (id, body, "conversationId", "senderId", "createdAt")
      values ('m1', 'Hello', 'c9', 'ann', now() at time zone 'UTC') returning id
      """,
    title: "Ann", text: "Hello", recipients: ["bob", "cy"], badge: 1, read: "insert into \"_Seen\" values ('m1', 'bob')"
  )

  /// Once Campfire: texts in a table of rich texts, unread since a time, involvement in words.
  static let campfire = ProductHost(
    testDescription: "Campfire",
    tables: """
      create table users (
        id serial primary key, name varchar not null, role int not null default 0, email_address varchar, active boolean default true,
        created_at timestamp not null default now()
      );
      create table rooms (id serial primary key, name varchar, type varchar not null, creator_id bigint not null references users);
      create table memberships (
        id serial primary key, room_id int not null references rooms, user_id int not null references users, unread_at timestamp,
        involvement varchar default 'mentions', connections int not null default 0, connected_at timestamp, unique (room_id, user_id)
      );
      create table messages (
        id serial primary key, room_id int not null references rooms, creator_id int not null references users,
        client_message_id varchar not null, created_at timestamp not null, updated_at timestamp not null
      );
      create table action_text_rich_texts (
        id serial primary key, name varchar not null, body text, record_type varchar not null, record_id bigint not null
      );
      create index on action_text_rich_texts (record_type, record_id, name);
      create table boosts (id serial primary key, message_id int not null references messages, booster_id int not null, content varchar(16));
      create table push_subscriptions (id serial primary key, user_id int not null, endpoint varchar, p256dh_key varchar, auth_key varchar)
      """,
    edits: [
      (
        "? text",
        """
          text (select t.body from public.action_text_rich_texts t \
        where t.record_type = 'Message' and t.record_id = messages.id and t.name = 'body')
        """
      ),
      ("user user_id", "  user user_id\n  wants involvement not in ('invisible', 'nothing')"),
    ],
    people: """
      insert into users (id, name) values (1, 'Ann'), (2, 'Bob'), (3, 'Cy'), (4, 'Dee');
      insert into rooms (id, type, creator_id) values (9, 'Rooms::Closed', 1), (8, 'Rooms::Direct', 1);
      insert into memberships (room_id, user_id, unread_at, involvement)
      values (9, 1, null, 'everything'), (9, 2, '2020-01-01', 'everything'), (9, 3, '2020-01-01', 'nothing'), (8, 4, null, 'everything');
      insert into action_text_rich_texts (name, body, record_type, record_id) values ('body', 'Hello', 'Message', 1)
      """,
    message: """
      insert into messages (room_id, creator_id, client_message_id, created_at, updated_at)
      values (9, 1, 'x', now() at time zone 'UTC', now()) returning id
      """,
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update memberships set unread_at = null where user_id = 2")

  /// pinax-messages: threads with a row for each user.
  static let pinax = ProductHost(
    testDescription: "pinax-messages",
    tables: """
      create table auth_user (
        id serial primary key, username varchar(150) not null, first_name varchar(150) not null default '',
        last_name varchar(150) not null default '', is_active boolean not null default true
      );
      create table pinax_messages_thread (id serial primary key, subject varchar(150) not null);
      create table pinax_messages_userthread (
        id serial primary key, unread boolean not null, deleted boolean not null,
        thread_id int not null references pinax_messages_thread, user_id int not null references auth_user
      );
      create table pinax_messages_message (
        id serial primary key, sent_at timestamptz not null, content text not null, sender_id int not null references auth_user,
        thread_id int not null references pinax_messages_thread
      )
      """,
    people: """
      insert into auth_user (id, username) values (1, 'ann'), (2, 'bob'), (3, 'cy'), (4, 'dee');
      insert into pinax_messages_thread values (9, 'x'), (8, 'y');
      insert into pinax_messages_userthread (unread, deleted, thread_id, user_id)
      values (false, false, 9, 1), (true, false, 9, 2), (true, true, 9, 3), (true, false, 8, 4)
      """,
    message: """
      insert into pinax_messages_message (sent_at, content, sender_id, thread_id) values (now(), 'Hello', 1, 9) returning id
      """,
    title: "ann", text: "Hello", recipients: ["2"])

  /// Supabase with users in a schema that is not looked at, and profiles beside them.
  static let supabaseAuth = ProductHost(
    testDescription: "Supabase with auth.users",
    tables: """
      create schema auth;
      create table auth.users (id uuid primary key);
      create table public.profiles (
        id uuid primary key references auth.users on delete cascade, updated_at timestamptz, username text unique, full_name text,
        avatar_url text, website text
      );
      create table public.rooms (id bigint generated by default as identity primary key, topic text not null unique);
      create table public.rooms_users (
        user_id uuid references auth.users, room_id bigint references public.rooms, created_at timestamptz default now(),
        primary key (user_id, room_id)
      );
      create table public.messages (
        id uuid primary key default gen_random_uuid(), room_id bigint not null references public.rooms,
        user_id uuid not null references auth.users, content text not null, inserted_at timestamptz not null default now()
      );
      alter table public.messages enable row level security;
      alter table public.rooms_users enable row level security
      """,
    people: """
      insert into auth.users values ('\(ann)'), ('\(bob)'), ('\(cy)');
      insert into profiles (id, username, full_name) values ('\(ann)', 'ann', 'Ann Lee');
      insert into rooms (id, topic) values (9, 'x'), (8, 'y');
      insert into rooms_users (user_id, room_id) values ('\(ann)', 9), ('\(bob)', 9), ('\(cy)', 8)
      """,
    message: "insert into messages (room_id, user_id, content) values (9, '\(ann)', 'Hello') returning id",
    title: "Ann Lee", text: "Hello", recipients: [bob])

  private static let ann = "00000000-0000-4000-8000-0000000000a2"
  private static let bob = "00000000-0000-4000-8000-0000000000b2"
  private static let cy = "00000000-0000-4000-8000-0000000000c2"
}
