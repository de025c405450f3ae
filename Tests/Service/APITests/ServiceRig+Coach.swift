import FoundationEssentials
import PushRules
import TestIDs
import TestPostgres
import TestRepository

extension ServiceRig {
  /// The tables of the campaign `coach`, which waits for requests and writes from a template.
  func makeCoach() async throws {
    let path = Repository.file("db/examples/coach.sql").path
    try await psql("\\i '\(path)'")
    try await psql(
      """
      update tacet.campaigns
      set is_scheduled = false, definition = '{"layers": ["re_engagement"], "composer": {"kind": "template"},
        "templates": {"re_engagement": [{"title": "A moment for you", "body": "Shall we talk about {domain}?"}]},
        "payload": {"action": "new_conversation"}}'
      """)
  }

  /// Somebody with whom the coach spoke four days ago; lower case, as the database prints ids.
  func makeCoachedUser(isWilling: Bool = true) async throws -> String {
    let (user, conversation) = (HostID.new().text, HostID.new().text)
    try await psql(
      """
      set session_replication_role = replica;
      insert into profiles (id, name) values ('\(user)', 'Ada');
      insert into push_tokens (user_id, device_token) values ('\(user)', '\(user.filter { $0 != "-" })');
      insert into context_profiles (user_id, time_zone, context_summary, notification_preferences)
      values ('\(user)', '\(ZoneNearNoon.name)', 'Grows roses.',
        '{"check_ins_enabled": \(isWilling), "frequency": "daily"}');
      insert into conversations (id, owner_id, domain, created_at)
      values ('\(conversation)', '\(user)', 'garden', now() - interval '4 days');
      insert into messages (conversation_id, from_id, text, created_at)
      values ('\(conversation)', '\(user)', 'The tulips sleep.', now() - interval '4 days');
      """)
    return user
  }

}
