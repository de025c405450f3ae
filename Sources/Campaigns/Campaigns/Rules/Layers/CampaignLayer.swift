internal import PushRules
internal import TemporalReferences

/// One way to find a reason to write. A new one is a file like its neighbours', and a name in ``all``.
struct CampaignLayer: Sendable {
  /// As definitions and the log have it.
  let name: String
  /// The type of its pushes, as the log's `push_type` has it.
  let pushType: String
  /// Why it may find nothing, besides the user's activity.
  var rules: [LayerRule] = []
  let outcome: @Sendable (CampaignMaterial) -> LayerOutcome

  static let all: [CampaignLayer] = [.event, .pattern, .reengagement, .occasion, .lapse]
}

extension CampaignLayer: Equatable {
  static func == (one: Self, other: Self) -> Bool { one.name == other.name }
}

enum LayerOutcome: Equatable {
  case hit(LayerFinding)
  /// - Parameters:
  ///   - figures: the rule's numbers by name; of seconds where the name has `_seconds`.
  ///   - doubts: what lowered the confidence of an event below the least sufficient one.
  case miss(LayerRule, _ figures: [String: Double] = [:], doubts: [ReadingDoubt] = [])
}

/// Why a layer found nothing.
package struct LayerRule: Equatable, Sendable {
  /// Part of the interface: stored to explain a decision.
  package let name: String
  /// What an explanation says of it.
  package let meaning: String

  init(_ name: String, _ meaning: String) { (self.name, self.meaning) = (name, meaning) }

  /// Of all layers, by name.
  package static let meanings = Dictionary(
    uniqueKeysWithValues: (ofActivity + CampaignLayer.all.flatMap(\.rules)).map { ($0.name, $0.meaning) })
}

// What layers say of their users' activity. Inactivity is unknown without the messages, and then nothing is sent.
extension LayerRule {
  private static let ofActivity = [messageSourceMissing, neverActive, recentlyActive]
  static let messageSourceMissing = LayerRule("message_source_missing", "the host's messages cannot be read")
  static let neverActive = LayerRule("never_active", "the user has never written")
  static let recentlyActive = LayerRule("recently_active", "the user was active too recently")
}

extension CampaignMaterial {
  /// Why a layer that needs an inactive user finds nothing; nil when the user was inactive for at least `needed`.
  func activityMiss(needed: Duration) -> LayerOutcome? {
    if missingSources.contains(.messages) { return .miss(.messageSourceMissing) }
    guard let inactiveFor else { return .miss(.neverActive) }
    if inactiveFor >= needed { return nil }
    return .miss(
      .recentlyActive,
      ["inactive_seconds": inactiveFor / .seconds(1), "inactive_seconds_needed": needed / .seconds(1)])
  }
}

/// The result of a campaign's layers for one user. The first hit wins, and each layer before it notes why it found
/// nothing.
struct LayerEvaluation: Equatable {
  /// The reason to write; nil when no layer found one. Then nothing is sent.
  private(set) var finding: LayerFinding?
  /// A note for each evaluated layer that found nothing, in order.
  private(set) var notes: [LayerNote] = []

  init(of material: CampaignMaterial, layers: [CampaignLayer]) {
    for layer in layers {
      switch layer.outcome(material) {
      case .miss(let rule, let figures, let doubts):
        notes.append(LayerNote(layer: layer.name, rule: rule, figures: figures, doubts: doubts))
      case .hit(let finding):
        self.finding = finding
        return
      }
    }
  }
}

/// Why one layer found nothing: a rule and numbers, stored to explain a decision. It has no text, so it cannot hold personal data.
struct LayerNote: Equatable {
  let layer: String
  let rule: LayerRule
  var figures: [String: Double] = [:]
  var doubts: [ReadingDoubt] = []

  /// One flat object: `{"layer": "event", "rule": "event_too_far", "ahead_seconds": 90000, …}`.
  var document: PayloadObject {
    var document: PayloadObject = [
      "layer": .string(layer), "rule": .string(rule.name), "doubts": PayloadValue.doubts(doubts),
    ]
    for (name, figure) in figures.sorted(by: { $0.key < $1.key }) { document[name] = PayloadValue.figure(figure) }
    return document
  }
}

extension PayloadValue {
  fileprivate static func texts(_ texts: [String]) -> Self { .array(texts.map { .string($0) }) }

  /// Nil without any.
  fileprivate static func doubts(_ doubts: [ReadingDoubt]) -> Self? {
    doubts.isEmpty ? nil : .texts(doubts.map(\.rawValue))
  }

  /// A whole number has no point; nil for one that JSON does not have.
  fileprivate static func figure(_ figure: Double) -> Self? {
    Int64(exactly: figure).map { .integer($0) } ?? (try? FiniteNumber(figure)).map { .number($0) }
  }
}

/// A reason to write.
struct LayerFinding: Equatable {
  let layer: CampaignLayer
  /// The domain, on one line of at most 40 characters; nil when unknown.
  let domain: String?
  /// Of a pattern at most 8 domains of that length; of others the one.
  var domains: [String]
  /// What the layer has found, by name, for texts, prompts and the log: lines of at most 80 characters. A topic is not among them,
  /// because a text would repeat it word for word.
  let found: [String: String]
  /// May be the user's own words, so it goes into the prompt and never into the log; nil without.
  let topic: String?
  /// Days that only the prompt names, by what they are: `date` of an event, when its sentence was `written`, and `today`.
  var days: [String: String] = [:]
  /// The precision of an event's time.
  var grain: EventGrain?
  /// The confidence of the reading or the pattern, in 0...1.
  var confidence: Double?
  /// What speaks against the reading of an event.
  var doubts: [ReadingDoubt] = []

  /// - Parameter found: such as `event` and `when`, or `theme`. One that is nil, or has no visible character, is unknown.
  init(_ layer: CampaignLayer, domain: String? = nil, found: [String: String?] = [:], topic: String? = nil) {
    self.layer = layer
    self.domain = domain.flatMap(TextLimits.domain)
    domains = self.domain.map { [$0] } ?? []
    self.found = found.compactMapValues { $0.flatMap(TextLimits.theme) }
    self.topic = topic
  }

  /// The values for texts.
  var values: [String: String] {
    found.merging(["push_type": layer.pushType, "domain": domain].compactMapValues { $0 }) { $1 }
  }

  /// What the log has of it: names and numbers, no sentence of a user.
  /// - Parameter campaign: with a push.
  func document(campaign: String? = nil) -> PayloadObject {
    [
      "layer": .string(layer.name), "themes": .texts(found["theme"].map { [$0] } ?? []), "domains": .texts(domains),
      "event": found["event"].map { .string($0) }, "grain": grain.map { .string($0.rawValue) },
      "confidence": confidence.flatMap { PayloadValue.figure($0) }, "doubts": PayloadValue.doubts(doubts),
      "campaign": campaign.map { .string($0) },
    ]
  }
}
