extension ProductHost {
  /// Lemmy's private messages: people beside local users, and a flag for what was read.
  static let lemmy = ProductHost(
    testDescription: "Lemmy",
    tables: """
      create table person (
        id serial primary key, name varchar(255) not null, display_name varchar(255), banned boolean not null default false,
        published timestamptz not null default now(), deleted boolean not null default false, ban_expires timestamptz
      );
      create table local_user (
        id serial primary key, person_id int not null unique references person on delete cascade, password_encrypted text not null,
        email text unique
      );
      create table community (id serial primary key, name varchar(255) not null, title varchar(255) not null);
      create table post (
        id serial primary key, name varchar(200) not null, url varchar(512), body text, creator_id int not null references person,
        community_id int not null references community, published timestamptz not null default now()
      );
      create table comment (
        id serial primary key, creator_id int not null references person, post_id int not null references post, content text not null,
        published timestamptz not null default now()
      );
      create table private_message (
        id serial primary key, creator_id int not null references person, recipient_id int not null references person,
        content text not null, deleted boolean not null default false, read boolean not null default false,
        published timestamptz not null default now(), updated timestamptz
      );
      create table private_message_report (
        id serial primary key, creator_id int not null references person, private_message_id int not null references private_message,
        original_pm_text text not null, reason text not null
      );
      create table person_block (
        id serial primary key, person_id int not null references person, target_id int not null references person,
        unique (person_id, target_id)
      );
      create table community_follower (
        id serial primary key, community_id int not null references community, person_id int not null references person,
        unique (community_id, person_id)
      )
      """,
    people: """
      insert into person (id, name, display_name) values (1, 'ann', 'Ann'), (2, 'bob', null), (3, 'cy', null);
      insert into person_block (person_id, target_id) values (2, 3);
      insert into private_message (creator_id, recipient_id, content) values (2, 3, 'x')
      """,
    message: "insert into private_message (creator_id, recipient_id, content) values (1, 2, 'Hello') returning id",
    hidden: [
      "insert into private_message (creator_id, recipient_id, content, deleted) values (1, 2, 'x', true) returning id"
    ],
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update private_message set read = true where recipient_id = 2")

  /// Flarum, where a row of discussion_user is also of those who have only looked: followers get pushes.
  static let flarum = ProductHost(
    testDescription: "Flarum",
    tables: """
      create table users (
        id serial primary key, username varchar(100) not null, nickname varchar(150), email varchar(150) not null,
        is_email_confirmed boolean not null default false, suspended_until timestamp
      );
      create table discussions (
        id serial primary key, title varchar(200) not null, created_at timestamp not null default now(), user_id int references users,
        last_posted_user_id int references users, last_post_number int, hidden_at timestamp, is_private boolean not null default false
      );
      create table posts (
        id serial primary key, discussion_id int not null references discussions, number int, created_at timestamp not null,
        user_id int references users, type varchar(100), content text, edited_at timestamp, edited_user_id int references users,
        hidden_at timestamp, hidden_user_id int references users, ip_address varchar(45), is_private boolean not null default false,
        unique (discussion_id, number)
      );
      create table discussion_user (
        user_id int not null references users, discussion_id int not null references discussions, last_read_at timestamp,
        last_read_post_number int, subscription varchar(10), primary key (user_id, discussion_id)
      );
      create table access_tokens (id serial primary key, token varchar(40) not null unique, user_id int not null references users)
      """,
    edits: [
      ("? members", "members discussion_user"), ("user user_id", "  user user_id\n  only subscription = 'follow'"),
      ("only coalesce(type", "  only type = 'comment'"),
    ],
    people: """
      insert into users (id, username, email) values (1, 'Ann', 'a'), (2, 'Bob', 'b'), (3, 'Cy', 'c');
      insert into discussions (id, title) values (9, 'x');
      insert into discussion_user (user_id, discussion_id, last_read_at, subscription)
      values (1, 9, null, 'follow'), (2, 9, '2020-01-01', 'follow'), (3, 9, '2020-01-01', null)
      """,
    message: """
      insert into posts (discussion_id, number, created_at, user_id, type, content)
      values (9, 1, now() at time zone 'UTC', 1, 'comment', 'Hello') returning id
      """,
    hidden: [
      """
      insert into posts (discussion_id, number, created_at, user_id, type, content)
      values (9, 2, now() at time zone 'UTC', 1, 'discussionRenamed', '["x","y"]') returning id
      """
    ],
    title: "Ann", text: "Hello", recipients: ["2"], badge: 1,
    read: "update discussion_user set last_read_at = now() at time zone 'UTC' + interval '1 s' where user_id = 2")
}
