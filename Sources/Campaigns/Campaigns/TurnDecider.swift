internal import FoundationEssentials
package import Logging
internal import Postgres
package import PushRules
package import PushStore
package import Reactors

enum TurnDecision: Equatable {
  /// A push is queued.
  case committed(UUID)
  case skipped(String)
  case failed(String)
  /// Another process has decided, or will.
  case lost
}

/// Decides one user's turn: whether a push is allowed, whether there is a reason to write, and which text is sent.
///
/// It keeps no state. The commit checks all conditions once more.
struct TurnDecider {
  let store: PushDatabase
  let composer: CheckInComposer
  let logger: Logger

  /// - Throws: a failure that does not concern this user. The turn is repeated when its lease expires.
  func decide(
    _ turn: CampaignTurn, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    guard !turn.isLate else { return try await end(turn, .skipped, "too_late", on: reactor) }
    let look: CampaignLook
    switch try await TurnLook(store: store, logger: logger).outcome(of: turn, by: definition, on: reactor) {
    case .refused(let refusal, let reason): return try await end(turn, refusal, reason, on: reactor)
    case .seen(let seen): look = seen
    }
    guard let finding = look.evaluation.finding else {
      return try await end(turn, .skipped, "nothing_to_say", look.findings, on: reactor)
    }
    let composition = try await composer.compose(
      finding, from: look.material, by: definition, for: turn, on: reactor)
    let findings = look.findings(composition)
    guard let text = composition.text else {
      return try await end(turn, .skipped, composition.writing.failure ?? "no_text", findings, on: reactor)
    }
    let push = WrittenCampaignPush(text, for: finding, in: look.material, of: definition, campaign: turn.campaign)
    switch try await store.commit(push, for: turn, findings, on: reactor) {
    case .committed(let id): return .committed(id)
    case .refused("claim_lost"): return .lost
    case .refused(let reason): return .skipped(reason)
    }
  }

  /// Ends a turn without a push.
  func end(
    _ turn: CampaignTurn, _ refusal: CampaignRefusal, _ reason: String,
    _ findings: CampaignFindings = CampaignFindings(), on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    guard try await store.decide(turn, refusal, reason: reason, findings, on: reactor) else { return .lost }
    return refusal == .skipped ? .skipped(reason) : .failed(reason)
  }
}

/// Evaluates one user without a decision.
struct TurnLook {
  let store: PushDatabase
  let logger: Logger

  /// The user's material and the result of the layers, or a refusal.
  func outcome(
    of turn: CampaignTurn, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LookOutcome {
    do throws(PostgresError) {
      switch try await store.standing(of: turn, on: reactor) {
      case .refused(let reason): return .refused(.skipped, reason)
      case .allowed(let text, let now):
        guard let look = CampaignLook(text, at: now, of: turn, by: definition) else {
          return .refused(.failed, "material_unreadable")
        }
        return .seen(look)
      }
    } catch {
      // The host's function fails for this user. Others must not wait for that.
      guard error.blamesStatement else { throw error }
      logger.error(
        "a user's material cannot be read", metadata: ["campaign": "\(turn.campaign)", "error": "\(error)"])
      return .refused(.failed, "material_failed")
    }
  }
}

enum LookOutcome {
  case refused(CampaignRefusal, String)
  case seen(CampaignLook)
}

/// One user's material, and the result of a campaign's layers for it.
struct CampaignLook {
  let material: CampaignMaterial
  let evaluation: LayerEvaluation

  /// - Parameters:
  ///   - text: the material as JSON.
  ///   - now: its moment, in microseconds since 1970.
  /// Nil for a text that is not an object.
  init?(_ text: String, at now: Int64, of turn: CampaignTurn, by definition: CampaignDefinition) {
    guard let document = try? JSONDecoder().decode(MaterialDocument.self, from: Data(text.utf8)) else { return nil }
    let moment = Date(microseconds: now)
    let finder = HappeningFinder(zoneName: turn.timeZone, locale: document.locale)
    var material = document.material(at: moment, localTime: finder?.localTime(at: moment) ?? .utc)
    material.happenings = finder?.happenings(in: material.messages) ?? []
    material.facts = CampaignValues(json: text) ?? CampaignValues()
    self.material = material
    evaluation = definition.evaluation(of: material)
  }

  var findings: CampaignFindings { CampaignFindings(layer: nil, inputs: inputs.json) }

  func findings(_ composition: CheckInComposer.Composition) -> CampaignFindings {
    var inputs = inputs
    inputs.writing = composition.writing
    return CampaignFindings(
      layer: evaluation.finding?.layer.rawValue, inputs: inputs.json, usage: composition.usage)
  }

  private var inputs: CampaignInputs { CampaignInputs(notes: evaluation.notes, finding: evaluation.finding?.metadata) }
}

/// The record that explains a decision: the rules with their numbers, the finding and the writer.
///
/// It cannot contain text of a user: rules and figures are enumerations, and the ledger stores the same metadata.
struct CampaignInputs: Encodable {
  /// The writer of the push, also of a failed one.
  struct Writing: Encodable, Equatable {
    /// `model` or `template`.
    var by: String
    /// Why the model's reply was not used; nil when it was.
    var failure: String?
  }

  var notes: [LayerNote] = []
  var finding: FindingMetadata?
  var writing: Writing?

  var json: String { JSONText.of(self) }
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

extension WrittenCampaignPush {
  init(
    _ text: CampaignText, for finding: LayerFinding, in material: CampaignMaterial, of definition: CampaignDefinition,
    campaign: String
  ) {
    var data = PayloadObject()
    for (key, value) in definition.payload(with: material.values(for: finding)).sorted(by: { $0.key < $1.key }) {
      data[key] = .string(value)
    }
    var metadata = finding.metadata
    metadata.campaign = campaign
    data["push_type"] = .string(finding.pushType.rawValue)
    if let domain = finding.domain { data["domain"] = .string(domain) }
    self.init(
      pushType: finding.pushType.rawValue, title: text.title, body: text.body,
      data: String(decoding: data.encoded(), as: UTF8.self),
      metadata: JSONText.of(metadata))
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
  /// - Throws: `PostgresError`; ``CampaignDefinitionDefect`` for an unreadable definition.
  package static func make(
    of name: String, onlyUser userID: HostID?, from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
  ) async throws -> CampaignPreview? {
    guard let stored = try await store.campaigns(on: reactor).first(where: { $0.name == name }) else { return nil }
    let definition = try CampaignDefinition(json: stored.definition)
    let found = try await store.eligible(for: name, onlyUser: userID, usersMax: usersMax, on: reactor)
    let look = TurnLook(store: store, logger: logger)
    var users: [User] = []
    for turn in found.turns { users.append(try await look.preview(of: turn, by: definition, on: reactor)) }
    return CampaignPreview(users: users, eligibleCount: found.count)
  }
}

extension TurnLook {
  fileprivate func preview(
    of turn: CampaignTurn, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignPreview.User {
    func user(pushType: String? = nil, reason: String? = nil, inputs: String = "{}") -> CampaignPreview.User {
      CampaignPreview.User(
        userID: turn.userID, localDay: turn.localDay, pushType: pushType, reason: reason,
        inputs: (try? JSONDecoder().decode(PayloadObject.self, from: Data(inputs.utf8))) ?? [:])
    }
    switch try await outcome(of: turn, by: definition, on: reactor) {
    case .refused(_, let reason): return user(reason: reason)
    case .seen(let look):
      let finding = look.evaluation.finding
      return user(
        pushType: finding?.pushType.rawValue, reason: finding == nil ? "nothing_to_say" : nil,
        inputs: look.findings.inputs)
    }
  }
}
