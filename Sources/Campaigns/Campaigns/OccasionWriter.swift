internal import FoundationEssentials
package import Logging
internal import Postgres
package import PushRules
package import PushStore
package import Reactors

/// Decides what the occasion of a campaign that comes at an hour says: whether a push is allowed, whether there is a reason to
/// write, and which text is sent.
///
/// It keeps no state. The commit checks all conditions once more.
struct OccasionWriter {
  let store: PushDatabase
  let texts: ModelTexts
  let logger: Logger

  /// - Throws: a failure that does not concern this user. The occasion is looked at again when its lease expires.
  func decide(
    _ occasion: Occasion, by definition: CampaignDefinition?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> DecidedOccasion {
    guard let definition, !definition.hasSlots else {
      return DecidedOccasion(occasion, nil, refusal: "campaign_unusable")
    }
    let look: OccasionLook
    switch try await self.look(at: occasion, by: definition, on: reactor) {
    case .refused(let reason): return DecidedOccasion(occasion, nil, refusal: reason)
    case .seen(let seen): look = seen
    }
    var findings = OccasionFindings(look)
    guard let finding = look.evaluation.finding else {
      return DecidedOccasion(occasion, nil, refusal: "nothing_to_say", findings: JSONText.of(findings))
    }
    let composition = try await compose(finding, from: look.material, by: definition, for: occasion, on: reactor)
    findings.note(composition, campaign: occasion.campaign)
    let document = JSONText.of(findings)
    guard let text = composition.text else {
      return DecidedOccasion(occasion, nil, refusal: composition.writing.failure ?? "no_text", findings: document)
    }
    let words = OccasionWords(text, about: finding, in: look.material, of: definition)
    return DecidedOccasion(occasion, words, pushType: finding.pushType, findings: document)
  }

  /// The user's material and the result of the layers, or a refusal. Nothing is decided.
  func look(
    at occasion: Occasion, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LookOutcome {
    do throws(PostgresError) {
      let situations = try await store.situations(
        of: [occasion.userID], in: occasion.campaign, at: occasion, on: reactor)
      guard let situation = situations[occasion.userID] else { return .refused("campaign_inactive") }
      if let refusal = situation.refusal { return .refused(refusal) }
      guard let look = OccasionLook(situation, of: occasion, by: definition) else {
        return .refused("material_unreadable")
      }
      return .seen(look)
    } catch {
      // The host's function fails for this user. Others must not wait for that.
      guard error.blamesStatement else { throw error }
      logger.error(
        "a user's material cannot be read", metadata: ["campaign": "\(occasion.campaign)", "error": "\(error)"])
      return .refused("material_failed")
    }
  }

  /// The model's text if it keeps all rules, else the campaign's own if that is what its failure means.
  private func compose(
    _ finding: LayerFinding, from material: CampaignMaterial, by definition: CampaignDefinition,
    for occasion: Occasion, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ModelTexts.Composition {
    var composition = ModelTexts.Composition(writing: .init(by: "template"))
    if let composer = definition.composer {
      composition = try await write(finding, material, composer.task, for: occasion, on: reactor)
      guard composition.text == nil, composer.onFailure == .template else { return composition }
      composition.writing.by = "template"
    }
    let filled = occasion.userID.withBytes { user in
      definition.text(
        with: material.values(for: finding), in: material.facts.locale, for: user,
        on: material.localTime.day(of: material.moment))
    }
    // A sentence with a hole is worse than silence.
    if let filled, filled.missing == 0 {
      composition.text = filled.text
    } else {
      composition.writing.failure = composition.writing.failure ?? "no_template"
    }
    return composition
  }

  private func write(
    _ finding: LayerFinding, _ material: CampaignMaterial, _ task: ModelTask?, for occasion: Occasion,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> ModelTexts.Composition {
    let about = "\(occasion.campaign) \(occasion.fireDate)"
    guard let task else {
      let check = ReplyCheck(rules: .coach, sources: material.quotableTexts, takesLine: false)
      return try await texts.write(
        ModelPrompt(for: finding, in: material), for: occasion.userID, on: about, check: check, on: reactor)
    }
    return try await texts.write(
      task.prompt(with: material.facts.lines), for: occasion.userID, on: about, within: task.limit,
      check: ReplyCheck(rules: task.rules, sources: material.quotableTexts), on: reactor)
  }
}

enum LookOutcome {
  case refused(String)
  case seen(OccasionLook)
}

/// One user's material, and the result of a campaign's layers for it.
struct OccasionLook {
  let material: CampaignMaterial
  let evaluation: LayerEvaluation

  /// Nil for material that is not an object.
  init?(_ situation: CampaignSituation, of occasion: Occasion, by definition: CampaignDefinition) {
    let moment = Date(microseconds: situation.now)
    guard
      var material = CampaignMaterial(json: situation.material ?? "{}", at: moment, zoneName: occasion.timeZone)
    else { return nil }
    material.subject = definition.occasion
    self.material = material
    evaluation = LayerEvaluation(of: material, layers: definition.layers)
  }
}

/// The record that explains a decision: the rules with their numbers, the finding and the writer.
///
/// It cannot contain text of a user: rules and figures are enumerations.
struct OccasionFindings: Encodable {
  struct Inputs: Encodable {
    var notes: [LayerNote] = []
    var finding: FindingMetadata?
    var writing: Writing?
  }

  /// The writer of the push, also of a failed one.
  struct Writing: Encodable, Equatable {
    /// `model` or `template`.
    var by: String
    /// Why the model's reply was not used; nil when it was.
    var failure: String?
  }

  /// The layer that had something to say.
  var layer: String?
  var inputs = Inputs()
  /// For the ledger.
  var metadata: FindingMetadata?
  var inputTokens = 0
  var outputTokens = 0
  var costMicrodollars = 0

  enum CodingKeys: String, CodingKey {
    case layer, inputs, metadata
    case inputTokens = "input_tokens"
    case outputTokens = "output_tokens"
    case costMicrodollars = "cost_microdollars"
  }

  init(_ look: OccasionLook) {
    inputs = Inputs(notes: look.evaluation.notes, finding: look.evaluation.finding?.metadata)
  }

  mutating func note(_ composition: ModelTexts.Composition, campaign: String) {
    layer = inputs.finding?.layer
    inputs.writing = composition.writing
    metadata = inputs.finding
    metadata?.campaign = campaign
    inputTokens = composition.usage.inputTokens
    outputTokens = composition.usage.outputTokens
    costMicrodollars = composition.usage.costMicrodollars
  }
}

/// Values whose encoding cannot fail.
enum JSONText {
  static func of(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("\(type(of: value)) cannot be encoded") }
    return String(decoding: data, as: UTF8.self)
  }
}

extension OccasionWords {
  init(
    _ text: CampaignText, about finding: LayerFinding, in material: CampaignMaterial, of definition: CampaignDefinition
  ) {
    let data = definition.data(
      with: material.values(for: finding),
      members: ["push_type": .string(finding.pushType), "domain": finding.domain.map { .string($0) }])
    self.init(title: text.title, body: text.body, data: data)
  }
}

/// What a run would do now. A preview writes nothing, sends nothing and calls no model.
package struct CampaignPreview: Equatable, Sendable {
  /// An eligible user of the audience.
  package struct User: Equatable, Sendable {
    package let userID: HostID
    package let localDay: String
    /// The type of the push; nil when nothing would be sent.
    package let pushType: String?
    /// Why nothing would be sent.
    package let reason: String?
    /// The rules' inputs: ages, counts and names, no text of a user.
    package let inputs: PayloadObject
  }

  /// The first evaluated users, in the order of their ids.
  package let users: [User]
  package let eligibleCount: Int

  /// The most users of a preview. Each takes about as long as a push, on the calling reactor.
  package static let usersMax = 200

  /// Evaluates all users, or one.
  /// - Returns: nil without an active campaign of that name.
  /// - Throws: `PostgresError`; ``DefinitionDefect`` for an unreadable definition.
  package static func make(
    of name: String, onlyUser userID: HostID?, from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
  ) async throws -> CampaignPreview? {
    guard let stored = try await store.campaigns(on: reactor).first(where: { $0.name == name }) else { return nil }
    let definition = try CampaignDefinition(json: stored.definition)
    let found = try await store.eligible(for: name, onlyUser: userID, usersMax: usersMax, on: reactor)
    let none = ModelUsageLimits(tokensMax: 0, costMicrodollarsMax: 0)
    let texts = ModelTexts(store: store, writer: nil, limits: none, logger: logger)
    let writer = OccasionWriter(store: store, texts: texts, logger: logger)
    var users: [User] = []
    for occasion in found.occasions {
      users.append(User(occasion, try await writer.look(at: occasion, by: definition, on: reactor)))
    }
    return CampaignPreview(users: users, eligibleCount: found.count)
  }
}

extension CampaignPreview.User {
  fileprivate init(_ occasion: Occasion, _ outcome: LookOutcome) {
    (userID, localDay) = (occasion.userID, occasion.fireDate)
    switch outcome {
    case .refused(let reason): (self.pushType, self.reason, inputs) = (nil, reason, [:])
    case .seen(let look):
      let finding = look.evaluation.finding
      pushType = finding?.pushType
      reason = finding == nil ? "nothing_to_say" : nil
      let inputs = JSONText.of(OccasionFindings(look).inputs)
      self.inputs = (try? JSONDecoder().decode(PayloadObject.self, from: Data(inputs.utf8))) ?? [:]
    }
  }
}
