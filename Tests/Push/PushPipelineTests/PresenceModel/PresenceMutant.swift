/// A way in which the product could be wrong, and the property of the model that finds it.
struct PresenceMutant: Sendable, CustomStringConvertible {
  let description: String
  let property: Int
  let apply: @Sendable (inout PresenceModel) -> Void

  func apply(to model: PresenceModel) -> PresenceModel {
    var model = model
    apply(&model)
    return model
  }

  static let all = [
    shortWindow,
    PresenceMutant(description: "a window of 120 s", property: 4) { $0.productWindow = .seconds(120) },
    PresenceMutant(sql: "the last look is ignored", breaks: 1, seenBy(lastSeen: "null", leftAt: "c.tacet_left_at")),
    PresenceMutant(sql: "leaving is ignored", breaks: 4, seenBy(lastSeen: "c.last_seen", leftAt: "null")),
    PresenceMutant(sql: "read_by is ignored", breaks: 1, messageContext(readBy: "'{}'", priorReadBy: "o.read_by")),
    PresenceMutant(
      sql: "reading other messages is ignored", breaks: 1, messageContext(readBy: "m.read_by", priorReadBy: "'{}'")),
    PresenceMutant(
      sql: "holds get lost", breaks: 2,
      trigger(
        "after insert on tacet.deliveries",
        "delete from tacet.deliveries d where (d.subject_id, d.user_id) = (new.subject_id, new.user_id);")),
    PresenceMutant(
      sql: "an event comes back after its record", breaks: 3,
      trigger(
        "after delete on tacet.inbox",
        """
        if old.attempts = 1 then
          delete from tacet.push_log l where l.subject_id = old.subject_id;
          insert into tacet.inbox (subject_id, kind, attempts) values (old.subject_id, old.kind, old.attempts);
        end if;
        """)),
    PresenceMutant(
      sql: "the ledger gives another reason", breaks: 5,
      trigger("before insert or update on tacet.push_log", "new.reason := replace(new.reason, 'already', 'never');")),
  ]

  static let shortWindow = PresenceMutant(description: "a window of 20 s", property: 1) {
    $0.productWindow = .seconds(20)
  }
}

extension PresenceMutant {
  private init(sql description: String, breaks property: Int, _ sabotage: String) {
    self.init(description: description, property: property) { $0.sabotage = sabotage }
  }

  private static func trigger(_ event: String, _ body: String) -> String {
    """
    create function tacet.sabotage() returns trigger language plpgsql
    as $$ begin \(body) return new; end $$;
    create trigger sabotage \(event) for each row execute function tacet.sabotage()
    """
  }

  private static func seenBy(lastSeen: String, leftAt: String) -> String {
    """
    create or replace function tacet.seen_by(conversation_id uuid)
    returns table (user_id uuid, last_seen timestamptz, left_at timestamptz) language sql stable
    as $$
      select c.user_id, \(lastSeen)::timestamptz, \(leftAt)::timestamptz
      from public.conversation_participants c where c.conversation_id = seen_by.conversation_id
    $$
    """
  }

  private static func messageContext(readBy: String, priorReadBy: String) -> String {
    """
    create or replace function tacet.message_context(message_id uuid)
    returns table (
      conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
      prior_read_by uuid[], prior_touched_at timestamptz
    ) language sql stable
    as $$
      select m.conversation_id, m.from_id, 'Ann'::text, m.text, m.created_at, \(readBy)::uuid[], o.read_by, o.updated_at
      from public.messages m
      left join lateral (
        select \(priorReadBy)::uuid[] as read_by, o.updated_at from public.messages o
        where o.conversation_id = m.conversation_id and o.id <> m.id order by o.created_at desc limit 1
      ) o on true
      where m.id = message_context.message_id
    $$
    """
  }
}
