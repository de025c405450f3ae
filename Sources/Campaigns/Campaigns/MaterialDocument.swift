internal import FoundationEssentials
internal import PushRules
internal import TemporalReferences

/// The result of the host's function for one user. A missing member, or one of another type, counts as unknown.
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

  /// The locale of the user's app, such as `en_GB`; nil when unknown.
  let locale: String?
  private let contextSummary: String?
  private let preferences: JSONValue?
  private let inactiveSeconds: Double?
  private let messages: [Message]
  private let patterns: [Pattern]
  private let conversation: LastConversation?
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
    func known<Value: Decodable>(_ key: Key) -> Value? { try? object.decodeIfPresent(Value.self, forKey: key) }
    func list<Value: Decodable>(_ key: Key) -> [Value] {
      (known(key) as [Lenient<Value>]?)?.compactMap(\.value) ?? []
    }
    locale = known(.locale)
    contextSummary = known(.contextSummary)
    preferences = known(.preferences)
    inactiveSeconds = known(.inactiveSeconds)
    messages = list(.messages)
    patterns = list(.patterns)
    conversation = known(.conversation)
    missing = known(.missing) ?? []
  }

  /// The material at a moment, without the events in its messages.
  func material(at moment: Date, localTime: LocalTime) -> CampaignMaterial {
    var material = CampaignMaterial(moment: moment)
    material.localTime = localTime
    // Other numbers are no durations.
    material.inactiveFor = inactiveSeconds.flatMap { (0...1e10).contains($0) ? .seconds($0) : nil }
    material.messages = messages.map { WrittenMessage(text: $0.text, writtenAt: Date(microseconds: $0.written_at)) }
    material.patterns = patterns.map {
      RecognizedPattern(
        theme: $0.theme, occurrences: $0.occurrences, domains: $0.domains ?? [], confidence: $0.confidence,
        synthesis: $0.synthesis ?? "", sessionsSince: $0.sessions_since)
    }
    material.lastConversation = conversation
    material.contextSummary = contextSummary
    material.styles = CoachingPreferences(preferences)
    material.missingSources = Set(missing.compactMap(MaterialSource.init))
    return material
  }
}

/// An element of a list. An unreadable one does not affect the others.
private struct Lenient<Value: Decodable>: Decodable {
  let value: Value?

  init(from decoder: any Decoder) { value = try? Value(from: decoder) }
}

extension Date {
  /// Microseconds since 1970, as the database counts.
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}

/// Finds the events in a user's messages, in the form of the rules.
struct HappeningFinder {
  let zone: ZoneRules
  private let finder: TemporalReferenceFinder
  private let dateOrder: NumericDateOrder

  /// - Parameters:
  ///   - zoneName: the database's name of the zone.
  ///   - locale: the app's locale, for the language and the order of dates; nil for those of the United States.
  /// Nil for a zone that only the database has, because then tomorrow is unknown.
  init?(zoneName: String, locale: String?) {
    guard let zone = ZoneDirectory.system.rules(of: zoneName) else { return nil }
    self.zone = zone
    dateOrder = NumericDateOrder(localeIdentifier: locale ?? "en_US")
    finder = TemporalReferenceFinder(language: .ofLocale(locale ?? "en_US"))
  }

  /// The known events of the messages, upcoming or not.
  func happenings(in messages: [WrittenMessage]) -> [Happening] {
    messages.flatMap { message in
      let reading = finder.reading(
        of: message.text, writtenAt: message.writtenAt, zone: zone, dateOrder: dateOrder)
      let calledOff = reading.calledOff.sorted().map {
        Happening(event: $0, span: nil, confidence: 1, writtenAt: message.writtenAt, standing: .cancelled)
      }
      return reading.references.compactMap(Happening.init) + calledOff
    }
  }

  func localTime(at moment: Date) -> LocalTime {
    let second = Int64(moment.timeIntervalSince1970.rounded(.down))
    let change = zone.nextChange(after: second).flatMap { change -> LocalTime.Change? in
      guard change.at - second <= 2 * 86_400 else { return nil }
      return LocalTime.Change(instant: Date(timeIntervalSince1970: Double(change.at)), secondsFromUTC: change.offset)
    }
    return LocalTime(secondsFromUTC: zone.offset(at: second), change: change)
  }
}

extension Happening {
  /// Nil for a time without an event.
  fileprivate init?(_ reference: TemporalReference) {
    guard let event = reference.event else { return nil }
    self.init(
      event: event,
      span: EventSpan(
        start: reference.start, end: reference.end, isDayOnly: reference.grain != .minute && reference.grain != .dayPart
      ),
      confidence: reference.confidence, writtenAt: reference.writtenAt,
      standing: reference.standing, doubts: reference.doubts)
  }
}
