/// A shape of odd rows that a host's users could write, or a host's functions return.
struct HostileShape: Sendable, CustomStringConvertible {
  let name: String
  /// What writes it, a transaction. `hostile.room(n)` makes a conversation with n others, each with a device;
  /// `hostile.say(room, text)` sends a message there, `hostile.sender(room)` and `hostile.member(room)` name people.
  let sql: String
  /// What makes the host as it was, where rows alone would go on to harm nobody but their own users.
  let undo: String

  init(_ name: String, _ sql: String, undo: String = "") {
    self.name = name
    self.sql = sql
    self.undo = undo
  }

  /// A conversation of a few, something done to it, and a message there. `room` is the conversation, `author` its
  /// sender, `victim` one of the others.
  static func room(_ name: String, of members: Int = 3, text: String = "'hello'", _ body: String = "") -> HostileShape {
    HostileShape(
      name,
      """
      do $shape$
      declare
        room uuid := hostile.room(\(members));
        author uuid := hostile.sender(room);
        victim uuid := hostile.member(room);
        said uuid;
      begin
        \(body)
        said := hostile.say(room, \(text));
      end
      $shape$
      """)
  }

  var description: String { name }

  /// Made once in the host's database. A device token is one of those that the simulator knows.
  static let preparation = """
    create schema hostile;
    create table hostile.tokens (token text primary key, is_used boolean not null default false);
    create function hostile.room(members int) returns uuid language plpgsql as $$
    declare
      room uuid := gen_random_uuid();
      author uuid := gen_random_uuid();
    begin
      insert into public.conversations (id) values (room);
      insert into public.profiles (id, name) values (author, 'Mallory');
      insert into public.conversation_participants (conversation_id, user_id) values (room, author);
      with people as (
        insert into public.profiles (name) select 'member' from generate_series(1, members) returning id
      ), joined as (
        insert into public.conversation_participants (conversation_id, user_id) select room, p.id from people p
      ), taken as (
        update hostile.tokens t set is_used = true
        where t.token in (select f.token from hostile.tokens f where not f.is_used limit members)
        returning t.token
      )
      insert into public.push_tokens (user_id, device_token)
      select p.id, t.token
      from (select p.id, row_number() over () as n from people p) p
      join (select t.token, row_number() over () as n from taken t) t using (n);
      insert into public.messages (conversation_id, from_id, text, created_at)
      values (room, author, 'first', now() - interval '2 hours');
      return room;
    end
    $$;
    create function hostile.sender(room uuid) returns uuid language sql as
      'select m.from_id from public.messages m where m.conversation_id = room limit 1';
    create function hostile.member(room uuid) returns uuid language sql as $$
      select c.user_id from public.conversation_participants c
      where c.conversation_id = room and c.user_id <> hostile.sender(room) limit 1
    $$;
    create function hostile.say(room uuid, text text) returns uuid language sql as $$
      insert into public.messages (conversation_id, from_id, text)
      values (room, hostile.sender(room), say.text) returning id
    $$
    """
}

extension HostileShape {
  /// Every shape, by what is odd about it.
  static let all = names + texts + tokens + dates + lists + memberships + wishes + documents + functions

  private static let names: [HostileShape] = [
    .room("a sender without a name", "update profiles set name = null where id = author;"),
    .room("an empty name", "update profiles set name = '' where id = author;"),
    .room("a name of blanks", "update profiles set name = repeat(' ', 100000) where id = author;"),
    .room(
      "a name of a megabyte before 250", of: 250,
      """
      update profiles set name = repeat('n', 1000000) where id = author;
      """),
    .room(
      "a name of 200,000 combining marks",
      """
      update profiles set name = 'a' || repeat(U&'\\0301', 200000) where id = author;
      """),
    .room(
      "a name of control characters",
      """
      update profiles set name = E'\\u0001\\n\\t\\u2028\\u007f' where id = author;
      """),
    .room(
      "a name that turns the direction",
      """
      update profiles set name = U&'\\202e\\2066\\200f' || repeat(U&'\\202a', 5000) where id = author;
      """),
    .room(
      "a name that is one joined emoji",
      """
      update profiles set name = repeat(U&'\\+01f468\\200d', 20000) where id = author;
      """),
  ]

  private static let texts: [HostileShape] = [
    .room("no text", text: "null"),
    .room("an empty text", text: "''"),
    .room("a text of a megabyte before 250", of: 250, text: "repeat('t', 1000000)"),
    .room("a text of 200,000 combining marks", text: "'a' || repeat(U&'\\0301', 200000)"),
    .room("a text of 200,000 brackets", text: "repeat('[', 200000)"),
    .room("a text of lone surrogates' escapes", text: #"'{"a": "\ud800\udfff\u0000", "a": 1e308}'"#),
    .room("a text of quotes and backslashes before 100", of: 100, text: #"repeat('"\', 100000)"#),
    .room("a text of control characters", text: "repeat(chr(1) || chr(127) || chr(13), 100000)"),
    .room(
      "a hundred messages of a megabyte at once", of: 2,
      """
      insert into messages (conversation_id, from_id, text) select room, author, repeat('t', 1000000) from
      generate_series(1, 100);
      """),
  ]

  private static let tokens: [HostileShape] = [
    .room(
      "a user with 20,000 tokens",
      """
      insert into push_tokens (user_id, device_token) select victim, 'zz' || lpad(to_hex(n), 62, '0') from
      generate_series(1, 20000) n;
      """),
    .room(
      "tokens of 115,000 combining marks",
      """
      insert into push_tokens (user_id, device_token) select victim, n || repeat(U&'\\0301', 115000) from
      generate_series(1, 60) n;
      """),
    .room("an empty token", "insert into push_tokens (user_id, device_token) values (victim, '');"),
    .room(
      "tokens that are paths and lines",
      """
      insert into push_tokens (user_id, device_token) values (victim, '../../3/device/aa'), (victim,
      E'aa\\r\\nhost: x'), (victim, 'aa%00'), (victim, 'aa aa'), (victim, U&'\\202eaa');
      """),
    .room(
      "tokens of odd length and of 2,000 digits",
      """
      insert into push_tokens (user_id, device_token) values (victim, 'abc'), (victim, repeat('ab', 1000));
      """),
    .room(
      "the same token in both cases",
      """
      insert into push_tokens (user_id, device_token) select victim, upper(t.device_token) from push_tokens t where
      t.user_id = victim;
      """),
    .room("an odd environment", "update push_tokens set environment = repeat('moon', 25000) where user_id = victim;"),
    .room("an odd app", "update push_tokens set app = repeat('../', 50000) where user_id = victim;"),
    .room("an empty app and environment", "update push_tokens set app = '', environment = '' where user_id = victim;"),
    .room("an odd platform", "update push_tokens set platform = repeat(U&'\\+01f4a3', 100000) where user_id = victim;"),
    .room(
      "an odd locale and zone",
      """
      update push_tokens set locale = repeat('x', 100000), time_zone = repeat('Europe/', 1000) where user_id =
      victim;
      """),
    .room(
      "devices registered at no time",
      """
      update push_tokens set registered_at = case when user_id = victim then 'infinity' else '-infinity'
      end::timestamptz where user_id in (select user_id from conversation_participants where conversation_id =
      room);
      """),
  ]

  private static let dates: [HostileShape] =
    ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31", "2099-01-01"].flatMap { date -> [HostileShape] in
      [
        .room(
          "a message dated \(date), read by all",
          """
          insert into messages (conversation_id, from_id, text, created_at, updated_at, read_by) select room,
          author, 'x', '\(date)', '\(date)', array_agg(c.user_id) from conversation_participants c where
          c.conversation_id = room;
          """),
        .room(
          "looks and leaves dated \(date)",
          """
          update conversation_participants set last_seen = '\(date)', tacet_left_at = '\(date)' where conversation_id =
          room;
          """),
      ]
    }

  private static let lists: [HostileShape] = [
    .room(
      "read by 100,000 others, before 100", of: 100,
      """
      insert into messages (conversation_id, from_id, text, read_by) select room, author, 'x',
      array_agg(gen_random_uuid()) from generate_series(1, 100000);
      """),
    .room(
      "the message before read by 100,000", of: 100,
      """
      update messages set read_by = array(select gen_random_uuid() from generate_series(1, 100000)) where
      conversation_id = room;
      """),
    .room(
      "read by nulls, twice, in two dimensions",
      """
      insert into messages (conversation_id, from_id, text, read_by) values (room, author, 'x', array[null, victim,
      victim]::uuid[]), (room, author, 'x', array[[victim, null], [null, victim]]), (room, author, 'x', ('[5:6]={'
      || victim || ',' || victim || '}')::uuid[]);
      """),
  ]
}

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
      "hours of campaigns in odd zones",
      """
      insert into tacet.campaign_runs (due_at, campaign, cause, zones) values (now(), 'coach', 'schedule', '{x,null}'),
      ('infinity', 'none', 'schedule', array[repeat('Z', 2000)])
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
