import Foundation
import TestLogs

/// Somebody whom a coach may know, and what there is to say to them.
struct CoachUser: Sendable {
  /// The first four may be pushed, each for another layer's reason, the last of them for none; nobody else may.
  enum Situation: String, CaseIterable {
    case event, pattern, away, quiet
    case unwilling, unasked, deviceless, inSession, pushedLately

    var isEligible: Bool { [.event, .pattern, .away, .quiet].contains(self) }
  }

  let id = UUID().uuidString.lowercased()
  let situation: Situation
  let devices = [Conversation.newToken()]
  /// What stands in the prompt about the user, and in no other's.
  let context: String
  /// The newest of what the user wrote.
  let words: String

  /// - Parameter words: nil for those that go with the situation.
  init(_ situation: Situation, context: String? = nil, words: String? = nil) {
    self.situation = situation
    self.context = context ?? "Works as engineer \(id.prefix(8))."
    self.words = words ?? Self.words(situation)
  }

  private static func words(_ situation: Situation) -> String {
    switch situation {
    case .event: "My presentation is the day after tomorrow."
    case .pattern, .quiet: "Just a normal day."
    default: "My garden."
    }
  }

  /// Days since the user wrote.
  private var daysAgo: Double {
    switch situation {
    case .event: 1
    case .quiet: 1.5
    case .pattern: 2.5
    case .inSession: 0
    default: 4
    }
  }

  private var wishes: String {
    switch situation {
    case .unasked: "{}"
    case .unwilling: #"{"check_ins_enabled": false, "frequency": "daily"}"#
    case .pushedLately: #"{"check_ins_enabled": true, "frequency": "weekly"}"#
    default: #"{"check_ins_enabled": true, "frequency": "daily"}"#
    }
  }

  /// SQL that makes the user.
  func creation(in zone: String) -> String {
    let conversation = UUID().uuidString
    var sql = """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into context_profiles (user_id, time_zone, context_summary, notification_preferences)
      values ('\(id)', '\(zone)', '\(context.quoted)', '\(wishes)');
      insert into conversations (id, owner_id, domain, created_at)
      values ('\(conversation)', '\(id)', 'work', now() - interval '\(daysAgo) days');
      insert into messages (conversation_id, from_id, text, created_at)
      values ('\(conversation)', '\(id)', '\(words.quoted)', now() - interval '\(daysAgo) days');
      insert into push_tokens (user_id, device_token, invalidated_at)
      values ('\(id)', '\(devices[0])', \(situation == .deviceless ? "now()" : "null"));
      """
    if situation == .pattern {
      sql += """
        insert into pattern_cache (user_id, theme, occurrences, domains, confidence, synthesis)
        values ('\(id)', 'fear of speaking', 4, '{work}', 0.9, 'Speaking up comes back again and again.');
        """
    }
    if situation == .pushedLately {
      sql += """
        insert into tacet.push_log (user_id, push_type, decision, enqueued_at, sent_at)
        values ('\(id)', 're_engagement', 'sent', now() - interval '3 days', now() - interval '3 days');
        """
    }
    return sql
  }
}

extension String {
  /// Inside quotation marks of SQL.
  fileprivate var quoted: String { replacingOccurrences(of: "'", with: "''") }
}
