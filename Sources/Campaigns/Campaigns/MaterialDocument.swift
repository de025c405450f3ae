internal import APNSCore
internal import CampaignRules
internal import FoundationEssentials

/// What the host's function says of a user, as it comes out of the database. Everything is optional: what is missing, or is
/// of another kind, is as if nobody knew it.
struct MaterialDocument: Decodable {
  private struct Message: Decodable {
    let text: String
    let written_at: Int64
  }

  private struct Pattern: Decodable {
    let theme: String
    let occurrences: Int
    let domains: [String]?
    let confidence: Double
    let synthesis: String?
    let sessions_since: Int
  }

  private struct Conversation: Decodable {
    let domain: String?
    let texts: [String]
  }

  /// How the user's app writes dates, such as `en_GB`; nil when nobody knows.
  let locale: String?
  private let contextSummary: String?
  private let preferences: PayloadObject?
  private let inactiveSeconds: Double?
  private let messages: [Message]
  private let patterns: [Pattern]
  private let conversation: Conversation?
  private let missing: [String]

  private enum Key: String, CodingKey {
    case locale, messages, patterns, missing
    case contextSummary = "context_summary"
    case preferences = "coaching_preferences"
    case inactiveSeconds = "inactive_seconds"
    case conversation = "last_conversation"
  }

  init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    locale = try? object.decodeIfPresent(String.self, forKey: .locale)
    contextSummary = try? object.decodeIfPresent(String.self, forKey: .contextSummary)
    preferences = try? object.decodeIfPresent(PayloadObject.self, forKey: .preferences)
    inactiveSeconds = try? object.decodeIfPresent(Double.self, forKey: .inactiveSeconds)
    messages = (try? object.decodeIfPresent([Lenient<Message>].self, forKey: .messages))?.compactMap(\.value) ?? []
    patterns = (try? object.decodeIfPresent([Lenient<Pattern>].self, forKey: .patterns))?.compactMap(\.value) ?? []
    conversation = try? object.decodeIfPresent(Conversation.self, forKey: .conversation)
    missing = (try? object.decodeIfPresent([String].self, forKey: .missing)) ?? []
  }

  /// The material of a moment, without what the messages say about events.
  func material(at moment: Date, localTime: LocalTime) -> CampaignMaterial {
    CampaignMaterial(
      moment: moment, localTime: localTime, inactiveFor: inactiveSeconds.flatMap(Self.duration),
      messages: messages.map { WrittenMessage(text: $0.text, writtenAt: Date(microseconds: $0.written_at)) },
      patterns: patterns.map {
        RecognizedPattern(
          theme: $0.theme, occurrences: $0.occurrences, domains: $0.domains ?? [], confidence: $0.confidence,
          synthesis: $0.synthesis ?? "", sessionsSince: $0.sessions_since)
      },
      lastConversation: conversation.map { LastConversation(domain: $0.domain, texts: $0.texts) },
      contextSummary: contextSummary,
      styles: preferences.map { CoachingPreferences(json: String(decoding: $0.encoded(), as: UTF8.self)) }
        ?? CoachingPreferences(),
      missingSources: Set(missing.compactMap(MaterialSource.init)))
  }

  /// A host that says nonsense has said nothing.
  private static func duration(_ seconds: Double) -> Duration? {
    (0...1e10).contains(seconds) ? .seconds(seconds) : nil
  }
}

/// One of many, which may be unreadable without harm to the others.
private struct Lenient<Value: Decodable>: Decodable {
  let value: Value?

  init(from decoder: any Decoder) { value = try? Value(from: decoder) }
}

extension Date {
  /// Microseconds since 1970, as the database counts.
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
