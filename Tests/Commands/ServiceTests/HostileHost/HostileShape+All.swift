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
