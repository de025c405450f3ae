/// Odd memberships, wishes, documents, and functions of the host.
extension HostileShape {
  static let memberships: [HostileShape] = [
    .room("a conversation with oneself", of: 0),
    .room("a sender who takes no part", "delete from conversation_participants where user_id = author;"),
    .room("a conversation that nobody is in", "delete from conversation_participants where conversation_id = room;"),
    .room("a message deleted at once", "said := hostile.say(room, 'x'); delete from messages where id = said;"),
    HostileShape(
      "a conversation deleted at once",
      """
      do $$ declare room uuid := hostile.room(3);
      begin perform hostile.say(room, 'x');
      delete from conversations where id = room;
      end $$
      """),
    HostileShape(
      "a sender deleted at once",
      """
      do $$ declare room uuid := hostile.room(3);
      begin perform hostile.say(room, 'x');
      delete from profiles where id = hostile.sender(room);
      end $$
      """),
    .room(
      "a room of 2,000, none with a device", of: 0,
      """
      with people as (insert into profiles (name) select null from generate_series(1, 2000) returning id) insert
      into conversation_participants (conversation_id, user_id) select room, p.id from people p;
      """),
    .room(
      "a user of 3,000 conversations",
      """
      with rooms as (insert into conversations select from generate_series(1, 3000) returning id) insert into
      conversation_participants (conversation_id, user_id) select r.id, victim from rooms r;
      """),
    .room(
      "a user with 100,000 unread messages",
      """
      perform set_config('session_replication_role', 'replica', true);
      insert into messages (conversation_id, from_id, text) select room, author, 'x' from generate_series(1,
      100000);
      perform set_config('session_replication_role', 'origin', true);
      """),
  ]

  static let wishes: [HostileShape] = [
    .room(
      "quiet hours in a zone of 6 KB",
      """
      insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_policy, quiet_zone) values (victim,
      '00:00', '24:00', 'hold', repeat('Europe/Berlin', 500));
      """),
    .room(
      "quiet hours in odd zones",
      """
      insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_policy, quiet_zone) select c.user_id,
      '00:00', '24:00', 'drop', (array['', ' ', '../../etc/passwd', 'UTC+99999', U&'\\0301'])[1 + row_number() over
      () % 5] from conversation_participants c where c.conversation_id = room;
      """),
    .room(
      "100,000 kinds not wanted",
      """
      insert into tacet.preferences (user_id, disabled_kinds) select victim, array_agg(case when n > 1 then
      repeat('k', 100) end) from generate_series(1, 100000) n;
      """),
    .room(
      "mutes until no time",
      """
      insert into tacet.conversation_preferences (user_id, conversation_id, is_muted, muted_until, mentions_only)
      select c.user_id, room, true, case when c.user_id = victim then 'infinity' else '-infinity' end::timestamptz,
      false from conversation_participants c where c.conversation_id = room;
      """),
    .room(
      "mentions of a name that is a pattern", text: "repeat('@(.*)+ ', 100000)",
      """
      update profiles set name = repeat('(.*)+', 10000) where id = victim;
      insert into tacet.conversation_preferences (user_id, conversation_id, is_muted, mentions_only) values (victim,
      room, false, true);
      """),
    HostileShape(
      "slots of campaigns in odd zones",
      """
      insert into tacet.campaign_slots (due_at, local_day, campaign, time_zone) values (now(), current_date,
      'coach', 'x'), ('infinity', '-infinity', 'none', repeat('Z', 2000))
      """),
  ]

  static let documents: [HostileShape] = [
    ("deep", "(repeat('[', 5000) || repeat(']', 5000))"),
    ("a megabyte long", #"('{"a": "' || repeat('x', 1000000) || '"}')"#),
    ("of doubled members", #"'{"a": 1, "a": 2, "aps": {}, "type": "x"}'"#),
    ("of huge numbers", #"('{"a": 1' || repeat('0', 5000) || ', "b": -1e308, "c": 1e999}')"#),
    ("of a lone surrogate", #"'{"a": "\ud800"}'"#),
    ("of U+0000", #"'{"a": "\u0000", "\u0000": ["\u0000"]}'"#),
    ("a list", "'[1, null]'"),
  ].map { name, data in
    .room(
      "a push whose data is \(name)",
      """
      insert into tacet.pushes (user_id, kind, title, body, collapse_id, data)
      values (victim, 'odd', repeat('t', 100000), repeat('b', 100000), repeat('c', 1000), (\(data))::json)
      returning id into said;
      insert into tacet.inbox (subject_id, kind) values (said, 'odd');
      """)
  }

  static let functions: [HostileShape] = [
    HostileShape(
      "a watched table whose names are quotes before and behind marks that join them",
      #"""
      create table U&"w\0600""'\0301; drop table messages; --" (
        id uuid primary key default gen_random_uuid(), U&"t""\0301$$ {x}" text, U&"a\0600'\0301" uuid);
      create function hostile.readers(subject_id uuid) returns setof uuid language sql as
        'select p.id from public.profiles p limit 1';
      select tacet.watch(
        kind => 'marked', source => c.oid::regclass, recipients => 'hostile.readers', title => 'x',
        fires_on => U&'update of t"\0301$$ {x}', actor => U&'a\0600''\0301')
      from pg_class c where c.relname = U&'w\0600"''\0301; drop table messages; --';
      insert into U&"w\0600""'\0301; drop table messages; --" default values;
      update U&"w\0600""'\0301; drop table messages; --" set U&"t""\0301$$ {x}" = 'x'
      """#,
      undo: #"select tacet.unwatch('marked'); drop table U&"w\0600""'\0301; drop table messages; --""#),
    HostileShape(
      "a count below zero, and one beyond every number",
      """
      alter function tacet.unread_count(uuid) rename to unread_count_kept;
      create function tacet.unread_count(user_id uuid) returns bigint language sql stable as $$
        select case when user_id::text < '8' then -9223372036854775808 else 9223372036854775807 end
      $$;
      select hostile.say(hostile.room(3), 'x')
      """,
      undo: """
        drop function tacet.unread_count(uuid);
        alter function tacet.unread_count_kept(uuid) rename to unread_count
        """),
    HostileShape(
      "preferences that come three times, with quiet hours of 178 million years",
      """
      alter function tacet.recipient_preferences(uuid, text, uuid, timestamptz) rename to recipient_preferences_kept;
      create function tacet.recipient_preferences(user_id uuid, kind text, surface_id uuid, moment timestamptz)
      returns table (
        is_opted_out boolean, is_muted boolean, mentions_only boolean, quiet_hours_remaining interval,
        quiet_hours_policy text
      )
      language sql stable as $$
        select null::boolean, null::boolean, null::boolean,
          case when p.name = 'member' then interval '178000000 years' end, repeat('x', 100000)
        from public.profiles p, generate_series(1, 3)
        where p.id = recipient_preferences.user_id
      $$;
      select hostile.say(hostile.room(3), 'x')
      """,
      undo: """
        drop function tacet.recipient_preferences(uuid, text, uuid, timestamptz);
        alter function tacet.recipient_preferences_kept(uuid, text, uuid, timestamptz) rename to recipient_preferences
        """),
  ]
}
