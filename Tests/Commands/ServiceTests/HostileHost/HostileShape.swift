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
