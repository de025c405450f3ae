internal import TemporalReferences

/// One way to find a reason to write. Raw values are part of the interface: definitions and the log contain them.
enum CampaignLayer: String, CaseIterable, Encodable {
  /// An upcoming event that the user mentioned.
  case event
  case pattern
  /// The user has been inactive, and there is a conversation to resume.
  case reengagement = "re_engagement"
  /// The campaign's own subject, such as a daily ritual.
  case occasion
  /// The user has stopped coming, as the campaign's audience says.
  case lapse

  /// The layers that look at the user, in their usual order.
  static let ofUser: [CampaignLayer] = [.event, .pattern, .reengagement]

  /// The type of its pushes, as the log's `push_type` has it.
  var pushType: String {
    switch self {
    case .event: "event_based"
    case .pattern: "pattern_based"
    case .reengagement: "re_engagement"
    case .occasion: "occasion"
    case .lapse: "reengagement"
    }
  }
}

/// Why one layer found nothing: a rule and numbers.
///
/// It is stored to explain a run. It has no text, so it cannot hold personal data.
struct LayerNote: Equatable, Encodable {
  let layer: CampaignLayer
  let rule: LayerRule
  /// The rule's numbers; may be empty.
  var figures: [LayerFigure: Double] = [:]
  /// What lowered the confidence of an event below the least sufficient one.
  var doubts: [ReadingDoubt] = []

  /// Writes one flat object: `{"layer": "event", "rule": "event_too_far", "ahead_seconds": 90000, …}`. JSON has no infinite numbers.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(layer.rawValue, forKey: Key("layer"))
    try container.encode(rule.rawValue, forKey: Key("rule"))
    for (figure, value) in figures where value.isFinite { try container.encode(value, forKey: Key(figure.rawValue)) }
    if !doubts.isEmpty { try container.encode(doubts.map(\.rawValue), forKey: Key("doubts")) }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Why a layer found nothing. Raw values are part of the interface: they are stored to explain a run, and they are
/// metric labels.
package enum LayerRule: String, CaseIterable, Sendable {
  /// The user's messages could not be read, so inactivity is unknown too.
  case messageSourceMissing = "message_source_missing"
  case patternSourceMissing = "pattern_source_missing"
  case conversationSourceMissing = "conversation_source_missing"
  /// No recent message names an event with a time.
  case noUpcomingEvent = "no_upcoming_event"
  case eventTooFar = "event_too_far"
  case eventConfidenceLow = "event_confidence_low"
  /// The newest message about the event cancelled it.
  case eventCancelled = "event_cancelled"
  case eventOver = "event_over"
  /// The user never wrote, so the user cannot be inactive.
  case neverActive = "never_active"
  case recentlyActive = "recently_active"
  /// There is no pattern with a name.
  case noValidPattern = "no_valid_pattern"
  /// Every pattern is too many sessions old.
  case patternExpired = "pattern_expired"
  case patternConfidenceLow = "pattern_confidence_low"
  case noConversation = "no_conversation"
  /// The last conversation has no visible words.
  case noTopic = "no_topic"
  case noOccasion = "no_occasion"
}

/// The meaning of a number in a layer's note. Raw values are keys in the database.
enum LayerFigure: String, CaseIterable, Sendable {
  case count
  /// The greatest confidence among them, in 0...1.
  case confidence
  /// The least sufficient confidence, in 0...1.
  case confidenceNeeded = "confidence_needed"
  case aheadSeconds = "ahead_seconds"
  case aheadSecondsMax = "ahead_seconds_max"
  case inactiveSeconds = "inactive_seconds"
  case inactiveSecondsNeeded = "inactive_seconds_needed"
  /// The fewest sessions since one of the patterns.
  case sessions
  /// The number of sessions after which a pattern expires.
  case sessionsEnd = "sessions_end"
}

/// The result of a campaign's layers for one user. The first hit wins, and each layer before it notes why it found
/// nothing.
struct LayerEvaluation: Equatable {
  /// The reason to write; nil when no layer found one. Then nothing is sent.
  let finding: LayerFinding?
  /// A note for each evaluated layer that found nothing, in order.
  let notes: [LayerNote]

  init(
    of material: CampaignMaterial,
    layers: [CampaignLayer] = CampaignLayer.ofUser,
    settings: LayerSettings = LayerSettings()
  ) {
    var notes: [LayerNote] = []
    for layer in layers {
      switch settings.outcome(of: layer, for: material) {
      case .miss(let note): notes.append(note)
      case .hit(let finding):
        self.finding = finding
        self.notes = notes
        return
      }
    }
    finding = nil
    self.notes = notes
  }
}

enum LayerOutcome: Equatable {
  case hit(LayerFinding)
  case miss(LayerNote)
}

struct LayerSettings: Equatable {
  var event = EventLayer()
  var pattern = PatternLayer()
  var reengagement = ReengagementLayer()
  var occasion = OccasionLayer()

  func outcome(of layer: CampaignLayer, for material: CampaignMaterial) -> LayerOutcome {
    switch layer {
    case .event: event.outcome(for: material)
    case .pattern: pattern.outcome(for: material)
    case .reengagement: reengagement.outcome(for: material)
    case .occasion: occasion.outcome(for: material)
    case .lapse: .hit(LayerFinding(.lapse, domain: nil))
    }
  }
}

extension CampaignMaterial {
  /// Why a layer that needs an inactive user finds nothing; nil when the user was inactive for at least `needed`.
  /// Inactivity is unknown without the messages, and then nothing is sent.
  func activityNote(for layer: CampaignLayer, needed: Duration) -> LayerNote? {
    if missingSources.contains(.messages) { return LayerNote(layer: layer, rule: .messageSourceMissing) }
    guard let inactiveFor else { return LayerNote(layer: layer, rule: .neverActive) }
    if inactiveFor >= needed { return nil }
    return LayerNote(
      layer: layer, rule: .recentlyActive,
      figures: [.inactiveSeconds: inactiveFor.inSeconds, .inactiveSecondsNeeded: needed.inSeconds])
  }
}

/// The layer for a subject of the campaign itself, such as a daily ritual. It hits for every user of the audience.
struct OccasionLayer: Equatable {
  /// The subject; nil finds nothing.
  var occasion: String?

  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    guard let occasion else { return .miss(LayerNote(layer: .occasion, rule: .noOccasion)) }
    let domain = material.lastConversation?.domain
    return .hit(LayerFinding(.occasion, domain: domain, values: ["theme": TextLimits.theme(occasion)]))
  }
}

extension Duration {
  /// In seconds, exact to the microsecond up to centuries.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

/// A reason to write.
struct LayerFinding: Equatable {
  let layer: CampaignLayer
  /// The domain, on one line of at most 40 characters; nil when unknown.
  let domain: String?
  /// For texts and prompts: `push_type`, `domain` if known, and what the layer has found: `event` and `when`, or `theme`. A topic
  /// is not among them, because a text would repeat it word for word.
  let values: [String: String]
  /// May be the user's own words, so it goes into the prompt and never into the log; nil without.
  let topic: String?
  let metadata: FindingMetadata

  /// - Parameters:
  ///   - values: one that is nil is unknown.
  ///   - note: adds to the logged data what is not among the values.
  init(
    _ layer: CampaignLayer, domain: String?, values: [String: String?] = [:], topic: String? = nil,
    note: (inout FindingMetadata) -> Void = { _ in }
  ) {
    self.layer = layer
    self.domain = domain.flatMap(TextLimits.domain)
    self.topic = topic
    var values = values.compactMapValues { $0 }
    var metadata = FindingMetadata(layer: layer, domains: self.domain.map { [$0] } ?? [])
    metadata.themes = values["theme"].map { [$0] } ?? []
    metadata.event = values["event"]
    note(&metadata)
    self.metadata = metadata
    values["push_type"] = layer.pushType
    values["domain"] = self.domain
    self.values = values
  }

  var pushType: String { layer.pushType }
}

/// The logged data of a check-in: names and numbers, no sentence of a user. As JSON, nil members are left out.
struct FindingMetadata: Encodable, Equatable {
  var layer: CampaignLayer
  /// Names of themes, each on one line of at most 80 characters; empty except for a pattern and an occasion.
  var themes: [String] = []
  /// At most 8 domains, each on one line of at most 40 characters.
  var domains: [String]
  /// The canonical word of the event; nil except for an event.
  var event: String?
  /// The precision of the event's time; nil except for an event.
  var grain: EventGrain?
  /// The confidence of the reading or the pattern, in 0...1; nil for other subjects.
  var confidence: Double?
  /// What speaks against the reading of the event; nil when nothing does, and for other subjects.
  var doubts: [ReadingDoubt]?
  /// The campaign's name, with a push.
  var campaign: String?
}

struct PatternLayer: Equatable {
  /// The least time since the user was last active; inclusive. Default 2 days.
  var inactiveMin = Duration.seconds(172_800)
  /// The number of sessions after which a pattern expires; exclusive. The product's "valid for 3 sessions" is read as
  /// valid until the third session has been held. Default 3.
  var sessionsEnd = 3
  /// The least confidence; inclusive. The product gives none for patterns. The default is the 0.7 of events, because a
  /// wrong statement about a person is no better than a question about the wrong day.
  var confidenceMin = 0.7

  /// The strongest valid pattern: the one with the highest confidence, then the most occurrences, then the latest.
  ///
  /// A pattern without a name is ignored, and one with a negative number of sessions counts as expired.
  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.patterns) { return miss(.patternSourceMissing) }
    if let note = material.activityNote(for: .pattern, needed: inactiveMin) { return .miss(note) }
    let named = material.patterns.filter { TextLimits.theme($0.theme) != nil }
    let valid = named.filter { $0.sessionsSince >= 0 && $0.sessionsSince < sessionsEnd }
    let sure = valid.filter { $0.confidence >= confidenceMin }
    guard let best = sure.min(by: isStronger) else { return miss(named: named, valid: valid) }
    return .hit(
      LayerFinding(
        .pattern, domain: best.domains.first, values: ["theme": TextLimits.theme(best.theme)], topic: best.synthesis
      ) { metadata in
        metadata.domains = best.domains.prefix(TextLimits.domainsMax).compactMap(TextLimits.domain)
        metadata.confidence = best.confidence
      })
  }

  private func isStronger(_ one: RecognizedPattern, than other: RecognizedPattern) -> Bool {
    if one.confidence != other.confidence { return one.confidence > other.confidence }
    if one.occurrences != other.occurrences { return one.occurrences > other.occurrences }
    // The name only makes the result deterministic.
    return (one.sessionsSince, one.theme) < (other.sessionsSince, other.theme)
  }

  private func miss(named: [RecognizedPattern], valid: [RecognizedPattern]) -> LayerOutcome {
    if let greatest = valid.map(\.confidence).max() {
      return miss(
        .patternConfidenceLow,
        [.count: Double(valid.count), .confidence: greatest, .confidenceNeeded: confidenceMin])
    }
    guard let fewest = named.map(\.sessionsSince).min() else { return miss(.noValidPattern) }
    return miss(
      .patternExpired,
      [.count: Double(named.count), .sessions: Double(fewest), .sessionsEnd: Double(sessionsEnd)])
  }

  private func miss(_ rule: LayerRule, _ figures: [LayerFigure: Double] = [:]) -> LayerOutcome {
    .miss(LayerNote(layer: .pattern, rule: rule, figures: figures))
  }
}

struct ReengagementLayer: Equatable {
  /// The least time since the user was last active; inclusive. Default 3 days.
  var inactiveMin = Duration.seconds(259_200)
  /// The number of last messages that give the topic. Default 3: the last one is often only a farewell.
  var topicMessagesMax = 3
  /// The most tokens of the topic, by an upper estimate. Default 50.
  var topicTokensMax = 50

  /// The last conversation's topic. Without a topic it finds nothing, because the push would be generic. The domain is
  /// optional.
  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.conversations) { return miss(.conversationSourceMissing) }
    if let note = material.activityNote(for: .reengagement, needed: inactiveMin) { return .miss(note) }
    guard let conversation = material.lastConversation else { return miss(.noConversation) }
    let phrase = TopicPhrase(
      of: conversation.texts, messagesMax: topicMessagesMax, tokensMax: topicTokensMax)
    if phrase.text.isEmpty { return miss(.noTopic) }
    return .hit(LayerFinding(.reengagement, domain: conversation.domain, topic: phrase.text))
  }

  private func miss(_ rule: LayerRule) -> LayerOutcome {
    .miss(LayerNote(layer: .reengagement, rule: rule))
  }
}

/// The beginnings of a conversation's last messages, bounded in a language model's tokens.
///
/// The estimate is an upper bound without the model's dictionary: a word costs one token for every three bytes of UTF-8
/// that it begins. English has four bytes a token or more, and a Chinese character (three bytes) is about one token.
struct TopicPhrase {
  static let bytesPerToken = 3

  /// One line in reading order, with ` / ` between messages; empty when no message has a visible word.
  let text: String

  /// - Parameters:
  ///   - texts: newest first. Newer texts get their words first.
  ///   - messagesMax: the most messages with words.
  ///   - tokensMax: the most tokens of all messages together.
  init(of texts: [String], messagesMax: Int, tokensMax: Int) {
    var budget = tokensMax
    var beginnings: [String] = []
    for text in texts where beginnings.count < messagesMax {
      // The separator costs one token.
      var remaining = beginnings.isEmpty ? budget : budget - 1
      guard remaining > 0 else { break }
      let beginning = Self.beginning(of: text, budget: &remaining)
      if beginning.isEmpty { continue }
      beginnings.append(beginning)
      budget = remaining
    }
    text = beginnings.reversed().joined(separator: " / ")
  }

  /// The words of one text within the budget. The number of scalars read is bounded by the budget too, so a text of
  /// megabytes costs no more than a short one.
  private static func beginning(of text: String, budget: inout Int) -> String {
    let line = DataLine(text, scalarsMax: budget * (bytesPerToken + 1)).text
    var words: [Substring] = []
    for word in line.split(separator: " ") {
      let cost = (word.utf8.count + bytesPerToken - 1) / bytesPerToken
      guard cost <= budget else {
        if words.isEmpty { words = [cut(word, bytesMax: budget * bytesPerToken)] }
        budget = 0
        break
      }
      budget -= cost
      words.append(word)
    }
    return words.joined(separator: " ")
  }

  /// The whole clusters of a word that fit.
  private static func cut(_ word: Substring, bytesMax: Int) -> Substring {
    var bytes = 0
    return word.prefix { cluster in
      bytes += cluster.utf8.count
      return bytes <= bytesMax
    }
  }
}
