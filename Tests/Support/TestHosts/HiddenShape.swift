internal import Testing

/// A way in which applications hide a message, keep a member from messages, or keep a sender from a member. Names of tables and ids of
/// users stand in it as `$messages`, `$members`, `$users`, `$sender` and `$reader`.
package struct HiddenShape: Sendable, CustomTestStringConvertible {
  /// What the host does.
  package let testDescription: String
  /// Makes the column or table; nothing is hidden yet.
  package let preparation: String
  /// Hides what is there.
  package let hide: String
  /// Shows it again.
  package let show: String

  /// A text for a host with these names.
  package static func written(_ text: String, _ names: [String: String]) -> String {
    names.reduce(text) { $0.replacing("$\($1.key)", with: $1.value) }
  }

  private static func column(
    of table: String, _ name: String, _ type: String, hidden: String, shown: String = "default"
  ) -> HiddenShape {
    HiddenShape(
      testDescription: "\(name) = \(hidden) of \(table)",
      preparation: "alter table $\(table) add \"\(name)\" \(type)",
      hide: "update $\(table) set \"\(name)\" = \(hidden)", show: "update $\(table) set \"\(name)\" = \(shown)")
  }

  private static func blocks(_ table: String, _ blocker: String, _ blocked: String, besides: String = "") -> HiddenShape
  {
    HiddenShape(
      testDescription: "a table \(table)",
      preparation: "create table \(table) (\(blocker) uuid not null, \(blocked) uuid not null\(besides))",
      hide: "insert into \(table) (\(blocker), \(blocked)) values ('$reader', '$sender')", show: "delete from \(table)")
  }

  /// Of messages.
  package static let messages = [
    column(of: "messages", "status", "text default 'sent'", hidden: "'draft'"),
    column(of: "messages", "message_status", "varchar(20)", hidden: "'Scheduled'"),
    column(of: "messages", "moderation_status", "text", hidden: "'pending'"),
    column(of: "messages", "is_draft", "boolean", hidden: "true"),
    column(of: "messages", "draft", "boolean not null default false", hidden: "true"),
    column(of: "messages", "published", "boolean not null default true", hidden: "false"),
    column(of: "messages", "published_at", "timestamptz default now()", hidden: "null"),
    column(
      of: "messages", "scheduled_at", "timestamptz", hidden: "now() + interval '1 day'",
      shown: "now() - interval '1 day'"),
    column(of: "messages", "scheduledFor", "timestamp", hidden: "now() + interval '2 days'"),
    column(of: "messages", "send_at", "timestamptz", hidden: "now() + interval '1 minute'"),
    column(of: "messages", "expires_at", "timestamptz", hidden: "now() - interval '1 minute'"),
    column(of: "messages", "is_staff_note", "boolean", hidden: "true"),
    column(of: "messages", "internal", "boolean", hidden: "true"),
    column(of: "messages", "staff_only", "boolean", hidden: "true"),
    column(of: "messages", "visibility", "text default 'public'", hidden: "'internal'"),
    column(of: "messages", "is_system", "boolean", hidden: "true"),
    column(of: "messages", "message_type", "text default 'text'", hidden: "'system_join'"),
    column(of: "messages", "kind", "text", hidden: "'note'"),
    column(of: "messages", "deleted_at", "timestamptz", hidden: "now()"),
    column(of: "messages", "is_deleted", "boolean", hidden: "true"),
    column(of: "messages", "deletedAt", "bigint default 0", hidden: "1764000000000"),
    column(of: "messages", "deleted_by", "uuid", hidden: "'$sender'"),
    column(of: "messages", "removed_at", "timestamp", hidden: "now()"),
    column(of: "messages", "discarded_at", "timestamptz", hidden: "now()"),
  ]

  /// Of members.
  package static let members = [
    column(of: "members", "left_at", "timestamptz", hidden: "now()"),
    column(of: "members", "removed_at", "timestamptz", hidden: "now()"),
    column(of: "members", "is_banned", "boolean", hidden: "true"),
    column(
      of: "members", "banned_until", "timestamptz", hidden: "now() + interval '1 day'",
      shown: "now() - interval '1 day'"),
    column(of: "members", "status", "text default 'member'", hidden: "'left'"),
    column(of: "members", "role", "text default 'member'", hidden: "'banned'"),
    column(of: "members", "membership", "text", hidden: "'invite'"),
    column(of: "members", "active", "boolean default true", hidden: "false"),
    column(of: "members", "blocked", "boolean", hidden: "true"),
  ]

  /// Of members who take part and want no pushes.
  package static let wishes = [
    column(of: "members", "muted", "boolean", hidden: "true"),
    column(of: "members", "muted_until", "timestamptz", hidden: "'infinity'", shown: "now() - interval '1 day'"),
    column(of: "members", "notifications_enabled", "boolean default true", hidden: "false"),
    column(of: "members", "notification_level", "text", hidden: "'none'"),
    column(of: "users", "notifications_enabled", "boolean default true", hidden: "false"),
    column(of: "users", "push_enabled", "boolean not null default true", hidden: "false"),
    column(of: "users", "is_banned", "boolean not null default false", hidden: "true"),
    column(of: "users", "suspended_until", "timestamptz", hidden: "now() + interval '1 day'"),
    column(of: "users", "deleted_at", "timestamptz", hidden: "now()"),
    column(of: "users", "is_active", "boolean", hidden: "false"),
    column(of: "users", "account_status", "text", hidden: "'suspended'"),
    blocks("user_blocks", "user_id", "blocked_user_id"),
    blocks("blocks", "blocker_id", "blocked_id", besides: ", deleted_at timestamptz"),
    blocks("muted_users", "user_id", "muted_user_id", besides: ", expires_at timestamptz"),
    blocks("chat_muteduser", "user_profile_id", "muted_user_id"),
    blocks("person_block", "person_id", "target_id"),
  ]

  /// All of them.
  package static let all = messages + members + wishes

  /// Rows that look as if they were hidden and are not: somebody who is offline, a user's own words, a last day.
  package static let shown = [
    column(of: "messages", "expires_on", "date", hidden: "current_date"),
    column(of: "messages", "subtype", "text", hidden: "'service_request'"),
    column(of: "members", "is_active", "boolean not null default false", hidden: "false"),
    column(of: "users", "status", "text", hidden: "'Blockchain fan, closed for lunch'"),
    column(of: "users", "state", "text", hidden: "'Bandundu'"),
  ]

  /// Columns and a table that look as if they hid something, and are not understood. is_active is false by default, as where it
  /// says who is online.
  package static let odd = """
    alter table $messages add moderation_level int, add hidden_for jsonb, add is_ephemeral boolean;
    alter table $members add notification_prefs jsonb, add is_active boolean not null default false;
    alter table $users add is_banned_by_vote int;
    create table blocklist (entry text)
    """
}

/// An application to which the shapes are added.
package struct HiddenHost: Sendable, CustomTestStringConvertible {
  /// Whose tables it has.
  package let testDescription: String
  /// The names in the shapes, with a conversation's as `$room`.
  package let names: [String: String]
  /// The tables; empty for those of the default contract.
  package let tables: String
  /// Two users in a room, and the reader's device `$token`.
  private let people: String
  private let message: String

  /// Two users in a room, and the reader's device.
  package func people(_ token: String) -> String {
    HiddenShape.written(people, names.merging(["token": token]) { $1 })
  }

  /// Writes a message, and returns its id.
  package var saying: String { HiddenShape.written(message, names) }

  /// A text of a shape for this host.
  package func written(_ text: String) -> String { HiddenShape.written(text, names) }

  private static let ids = [
    "sender": "00000000-0000-4000-8000-00000000000a", "reader": "00000000-0000-4000-8000-00000000000b",
    "room": "00000000-0000-4000-8000-0000000000c0",
  ]

  /// The tables of the default contract.
  package static let standard = HiddenHost(
    testDescription: "the default contract",
    names: ids.merging(["messages": "messages", "members": "conversation_participants", "users": "profiles"]) { $1 },
    tables: "",
    people: """
      insert into profiles (id, name) values ('$sender', 'Ann'), ('$reader', 'Bob');
      insert into conversations (id) values ('$room');
      insert into conversation_participants (conversation_id, user_id) values ('$room', '$sender'), ('$room', '$reader');
      insert into push_tokens (user_id, device_token) values ('$reader', '$token')
      """,
    message: "insert into messages (conversation_id, from_id, text) values ('$room', '$sender', 'Hello') returning id")

  /// Other tables, which `tacet init` wires without an answer.
  package static let other = HiddenHost(
    testDescription: "tables of its own",
    names: ids.merging(["messages": "chat_messages", "members": "room_members", "users": "users"]) { $1 },
    tables: """
      create table users (id uuid primary key, name text);
      create table rooms (id uuid primary key);
      create table room_members (room_id uuid references rooms, user_id uuid references users, primary key (room_id, user_id));
      create table chat_messages (
        id uuid primary key default gen_random_uuid(), room_id uuid not null references rooms, sender_id uuid references users,
        body text, created_at timestamptz not null default now());
      create table devices (user_id uuid references users, device_token text primary key);
      """,
    people: """
      insert into users (id, name) values ('$sender', 'Ann'), ('$reader', 'Bob');
      insert into rooms values ('$room');
      insert into room_members (room_id, user_id) values ('$room', '$sender'), ('$room', '$reader');
      insert into devices values ('$reader', '$token')
      """,
    message: "insert into chat_messages (room_id, sender_id, body) values ('$room', '$sender', 'Hello') returning id")
}
