extension HostSample {
  /// Conversations by padded names, users and messages by numbers, a column called like a keyword, and texts as JSON.
  package static let tinode = HostSample(
    testDescription: "Tinode",
    tables: """
      create table users (
        id bigint primary key, createdat timestamp(3) not null, updatedat timestamp(3) not null,
        state smallint not null default 0, access json, lastseen timestamp, useragent varchar(255) default '', public json,
        tags json
      );
      create table devices (
        id serial primary key, userid bigint not null references users, hash char(16) not null unique, deviceid text not null,
        platform varchar(32), lastseen timestamp not null, lang varchar(8)
      );
      create table auth (
        id serial primary key, uname varchar(32) not null unique, userid bigint not null references users,
        secret varchar(255) not null
      );
      create table topics (
        id serial primary key, createdat timestamp(3) not null, updatedat timestamp(3) not null, touchedat timestamp(3),
        name char(25) not null unique, owner bigint not null default 0, seqid int not null default 0, public json
      );
      create table subscriptions (
        id serial primary key, createdat timestamp(3) not null, updatedat timestamp(3) not null, deletedat timestamp(3),
        userid bigint not null references users, topic char(25) not null, recvseqid int default 0, readseqid int default 0,
        private json
      );
      create unique index subscriptions_topic_userid on subscriptions (topic, userid);
      create table messages (
        id serial primary key, createdat timestamp(3) not null, updatedat timestamp(3) not null, deletedat timestamp(3),
        delid int default 0, seqid int not null, topic char(25) not null references topics (name), "from" bigint not null,
        head json, content json
      );
      create unique index messages_topic_seqid on messages (topic, seqid);
      create table dellog (
        id serial primary key, topic char(25) not null references topics (name), deletedfor bigint not null default 0,
        low int not null, hi int not null
      )
      """,
    mapping: """
      messages public.messages
      conversation topic
      sender "from"
      text content
      written createdat
      only deletedat is null
      members public.subscriptions
      conversation topic
      user userid
      only deletedat is null
      read marker readseqid >= seqid
      users public.users
      id id
      devices public.devices
      user userid
      token deviceid
      platform platform
      registered lastseen
      dead delete
      """,
    migrateOptions: ["--message-ids", "bigint", "--conversation-ids", "text", "--user-ids", "bigint"],
    people: """
      insert into users (id, createdat, updatedat) values (11, now(), now()), (12, now(), now());
      insert into topics (name, createdat, updatedat) values ('grpShort', now(), now());
      insert into subscriptions (createdat, updatedat, userid, topic)
      values (now(), now(), 11, 'grpShort'), (now(), now(), 12, 'grpShort');
      insert into devices (userid, hash, deviceid, platform, lastseen)
      values (12, 'a', '$token', 'ios', '2026-01-01'), (12, 'b', 'dX3:APA91b_x', 'android', '2026-01-01')
      """,
    reader: "12",
    message: """
      insert into messages (createdat, updatedat, seqid, topic, "from", content)
      values (now() at time zone 'UTC', now(), 2, 'grpShort', 11, '{"txt": "Hello", "fmt": []}') returning id
      """,
    note: """
      insert into messages (createdat, updatedat, deletedat, seqid, topic, "from", content)
      values (now() at time zone 'UTC', now(), now(), 1, 'grpShort', 11, '"gone"')
      """,
    conversation: "grpShort", shown: (nil, "Hello"))
}
