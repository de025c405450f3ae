internal import FoundationEssentials
internal import PushRules
internal import TemporalReferences

extension CampaignMaterial {
  /// Reads the result of the host's function for one user, and finds the events in the user's messages.
  /// - Parameter zoneName: the database's name of the user's zone. In one that only the database has, tomorrow is unknown: no
  ///   event is found.
  /// - Returns: nil for text that is not a JSON object.
  init?(json: String, at moment: Date, zoneName: String) {
    guard let document = try? JSONDecoder().decode(MaterialDocument.self, from: Data(json.utf8)) else { return nil }
    self = document.material
    self.moment = moment
    facts = CampaignValues(json: json) ?? CampaignValues()
    guard let zone = ZoneDirectory.system.rules(of: zoneName) else { return }
    localTime = LocalTime(zone: zone)
    let dateOrder = NumericDateOrder(localeIdentifier: document.locale)
    let finder = TemporalReferenceFinder(language: .ofLocale(document.locale))
    happenings = messages.flatMap { message in
      let reading = finder.reading(of: message.text, writtenAt: message.writtenAt, zone: zone, dateOrder: dateOrder)
      let calledOff = reading.calledOff.sorted().map {
        Happening(event: $0, span: nil, confidence: 1, writtenAt: message.writtenAt, standing: .cancelled)
      }
      return reading.references.compactMap { Happening($0, of: message.text) } + calledOff
    }
  }
}

/// The host's document. A missing member, or one of another type, counts as unknown.
private struct MaterialDocument: Decodable {
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

  /// The locale of the user's app, such as `en_GB`, for the language and the order of dates; that of the United States when unknown.
  let locale: String
  private(set) var material = CampaignMaterial(moment: .distantPast)

  init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: MemberName.self)
    func known<Value: Decodable>(_ name: MemberName) -> Value? { try? object.decodeIfPresent(Value.self, forKey: name) }
    func list<Value: Decodable>(_ name: MemberName) -> [Value] {
      (known(name) as [Lenient<Value>]?)?.compactMap(\.value) ?? []
    }
    locale = known("locale") ?? "en_US"
    let inactiveSeconds: Double? = known("inactive_seconds")
    // Other numbers are no durations.
    material.inactiveFor = inactiveSeconds.flatMap { (0...1e10).contains($0) ? .seconds($0) : nil }
    material.messages = list("messages").map { (message: Message) in
      WrittenMessage(text: message.text, writtenAt: Date(microseconds: message.written_at))
    }
    material.patterns = list("patterns").map { (pattern: Pattern) in
      RecognizedPattern(
        theme: pattern.theme, occurrences: pattern.occurrences, domains: pattern.domains ?? [],
        confidence: min(1, max(0, pattern.confidence)), synthesis: pattern.synthesis ?? "",
        sessionsSince: pattern.sessions_since)
    }
    material.lastConversation = known("last_conversation")
    material.contextSummary = known("context_summary")
    material.styles = known("coaching_preferences") ?? CoachingPreferences()
    let missing: [String] = known("missing") ?? []
    material.missingSources = Set(missing.compactMap(MaterialSource.init))
  }
}

/// A value that others do not depend on: nil for an unreadable one.
struct Lenient<Value: Decodable>: Decodable {
  let value: Value?

  init(from decoder: any Decoder) { value = try? Value(from: decoder) }
}

extension Date {
  /// Microseconds since 1970, as the database counts.
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}

extension Happening {
  /// Nil for a time without an event.
  fileprivate init?(_ reference: TemporalReference, of message: String) {
    guard let event = reference.event else { return nil }
    self.init(
      event: event,
      span: EventSpan(
        start: reference.start, end: reference.end, isDayOnly: reference.grain != .minute && reference.grain != .dayPart
      ),
      confidence: reference.confidence, writtenAt: reference.writtenAt,
      standing: reference.standing, doubts: reference.doubts, message: message, sentence: reference.sentence)
  }
}
