extension HostSample {
  /// Texts as ids, milliseconds as times, no foreign keys, and tokens of APNs behind a word in the sessions.
  package static let mattermost = HostSample(
    testDescription: "Mattermost",
    tables: """
      create type channel_type as enum ('P', 'G', 'O', 'D');
      create table users (
        id varchar(26) primary key, createat bigint, updateat bigint, deleteat bigint, username varchar(64) unique,
        password varchar(128), email varchar(128), nickname varchar(64), firstname varchar(64), lastname varchar(64),
        position varchar(128), roles varchar(256), notifyprops jsonb, locale varchar(5), timezone jsonb
      );
      create table channels (
        id varchar(26) primary key, createat bigint, updateat bigint, deleteat bigint, teamid varchar(26), type channel_type,
        displayname varchar(64), name varchar(64), header varchar(1024), lastpostat bigint, totalmsgcount bigint,
        creatorid varchar(26)
      );
      create table channelmembers (
        channelid varchar(26) not null, userid varchar(26) not null, roles varchar(256), lastviewedat bigint, msgcount bigint,
        mentioncount bigint, notifyprops jsonb, lastupdateat bigint, schemeuser boolean, schemeadmin boolean,
        primary key (channelid, userid)
      );
      create index idx_channelmembers_user_id on channelmembers (userid);
      create table channelmemberhistory (
        channelid varchar(26) not null, userid varchar(26) not null, jointime bigint not null, leavetime bigint,
        primary key (channelid, userid, jointime)
      );
      create table posts (
        id varchar(26) primary key, createat bigint, updateat bigint, deleteat bigint, userid varchar(26), channelid varchar(26),
        rootid varchar(26), originalid varchar(26), message varchar(65535), type varchar(26), props jsonb,
        hashtags varchar(1000), fileids varchar(300), hasreactions boolean, editat bigint, ispinned boolean
      );
      create index idx_posts_channel_id_delete_at_create_at on posts (channelid, deleteat, createat);
      create table drafts (
        createat bigint, updateat bigint, deleteat bigint, userid varchar(26), channelid varchar(26),
        rootid varchar(26) default '', message varchar(65535), primary key (userid, channelid, rootid)
      );
      create table threads (postid varchar(26) primary key, replycount bigint, lastreplyat bigint, channelid varchar(26));
      create table threadmemberships (
        postid varchar(26) not null, userid varchar(26) not null, following boolean, lastviewed bigint, lastupdated bigint,
        primary key (postid, userid)
      );
      create table reactions (userid varchar(26), postid varchar(26), emojiname varchar(64), channelid varchar(26));
      create table sessions (
        id varchar(26) primary key, token varchar(26), createat bigint, expiresat bigint, lastactivityat bigint,
        userid varchar(26), deviceid varchar(512), roles varchar(256), isoauth boolean, props jsonb
      );
      create index idx_sessions_user_id on sessions (userid)
      """,
    edits: [("? only", ""), ("? devices", "devices public.sessions")],
    mapping: """
      messages public.posts
      conversation channelid
      sender userid
      text message
      written createat
      only coalesce(deleteat, 0) = 0
      only coalesce(type::text, '') !~* '^(system|draft|internal|staff|whisper|schedul
      members public.channelmembers
      conversation channelid
      user userid
      seen lastviewedat
      read marker lastviewedat >= createat
      users public.users
      id id
      name coalesce(nullif(btrim(concat_ws(' ', firstname, lastname)), ''), username)
      only coalesce(deleteat, 0) = 0
      devices public.sessions
      user userid
      token deviceid
      registered createat
      dead clear
      """,
    migrateOptions: ["--message-ids", "text", "--conversation-ids", "text", "--user-ids", "text"],
    people: """
      insert into users (id, username, deleteat) values ('uann', 'ann', 0), ('ubob', 'bob', 0);
      insert into channels (id, type, name) values ('c1', 'O', 'town');
      insert into channelmembers (channelid, userid, lastviewedat) values ('c1', 'uann', 0), ('c1', 'ubob', 1795341600000);
      insert into sessions (id, userid, deviceid, createat) values
        ('s1', 'ubob', 'apple_rn-v2:$token', 1795341600000), ('s2', 'ubob', 'android_rn-v2:dX3:APA91b_x', 1795341600000)
      """,
    reader: "ubob",
    message: """
      insert into posts (id, createat, deleteat, userid, channelid, message, type)
      values ('p1', extract(epoch from now()) * 1000, 0, 'uann', 'c1', 'Hello', '') returning id
      """,
    note: """
      insert into posts (id, createat, deleteat, userid, channelid, message, type)
      values ('p0', extract(epoch from now()) * 1000, 0, 'uann', 'c1', 'ann joined', 'system_join_channel')
      """,
    conversation: "c1", shown: ("ann", "Hello"))
}
