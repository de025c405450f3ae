internal import FoundationEssentials
internal import PushRules
internal import TemporalReferences

extension CampaignMaterial {
  /// Reads the result of the host's function for one user, and finds the events in the user's messages. A missing member, or one of
  /// another type, counts as unknown.
  /// - Parameter zoneName: the database's name of the user's zone. In one that only the database has, tomorrow is unknown: no
  ///   event is found.
  /// - Returns: nil for text that is not a JSON object.
  init?(json: String, at moment: Date, zoneName: String) {
    // The messages have any number of bytes.
    guard let document = CampaignValues.document(json, bytesMax: .max) else { return nil }
    self.init(moment: moment)
    facts = CampaignValues(document)
    // Other numbers are no durations.
    inactiveFor = document.number("inactive_seconds").flatMap { (0...1e10).contains($0) ? .seconds($0) : nil }
    messages = document.objects("messages").compactMap(WrittenMessage.init)
    patterns = document.objects("patterns").compactMap(RecognizedPattern.init)
    lastConversation = document.object("last_conversation").flatMap(LastConversation.init)
    contextSummary = document.text("context_summary")
    styles = document.object("coaching_preferences").map { CoachingPreferences($0) } ?? styles
    missingSources = Set((document.texts("missing") ?? []).compactMap(MaterialSource.init))
    guard let zone = ZoneDirectory.system.rules(of: zoneName) else { return }
    localTime = LocalTime(zone: zone)
    // That of the user's app, for the language and the order of dates; that of the United States when unknown.
    let locale = document.text("locale") ?? "en_US"
    let dateOrder = NumericDateOrder(localeIdentifier: locale)
    let finder = TemporalReferenceFinder(language: .ofLocale(locale))
    happenings = messages.flatMap { message in
      let reading = finder.reading(of: message.text, writtenAt: message.writtenAt, zone: zone, dateOrder: dateOrder)
      let calledOff = reading.calledOff.sorted().map {
        Happening(event: $0, span: nil, confidence: 1, writtenAt: message.writtenAt, standing: .cancelled)
      }
      return reading.references.compactMap { Happening($0, of: message.text) } + calledOff
    }
  }
}

extension WrittenMessage {
  fileprivate init?(_ document: PayloadObject) {
    guard let text = document.text("text"), let writtenAt = document.integer("written_at") else { return nil }
    self.init(text: text, writtenAt: Date(microseconds: writtenAt))
  }
}

extension RecognizedPattern {
  fileprivate init?(_ document: PayloadObject) {
    guard let theme = document.text("theme"), let occurrences = document.integer("occurrences"),
      let confidence = document.number("confidence"), let sessions = document.integer("sessions_since")
    else { return nil }
    self.init(
      theme: theme, occurrences: Int(occurrences), domains: document.texts("domains") ?? [],
      confidence: min(1, max(0, confidence)), synthesis: document.text("synthesis") ?? "", sessionsSince: Int(sessions))
  }
}

extension LastConversation {
  fileprivate init?(_ document: PayloadObject) {
    guard let texts = document.texts("texts") else { return nil }
    self.init(domain: document.text("domain"), texts: texts)
  }
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
