internal import Cryptography
internal import Logging
internal import Postgres
internal import PushRules
package import PushStore
package import Reactors

/// Texts that a language model writes within the day's budget. Belongs to one reactor.
final class ModelTexts {
  struct Composition {
    var text: CampaignText?
    /// The writer of the push, also of a failed one: `model` or `template`.
    var by: String
    /// Why the model's reply was not used; nil when it was.
    var failure: String?
    /// Why the model wrote nothing. Then no template is said instead.
    var refusal: EventRefusal?
    var usage = CampaignUsage()
  }

  private let store: PushDatabase
  private let writer: (any CheckInWriter)?
  private let limits: ModelUsageLimits
  private let logger: Logger
  /// For a minute after the day's budget was spent nobody asks for each of many users.
  private var spentUntil: UInt64 = 0

  init(store: PushDatabase, writer: (any CheckInWriter)?, limits: ModelUsageLimits, logger: Logger) {
    (self.store, self.writer, self.limits, self.logger) = (store, writer, limits, logger)
  }

  /// Whether a model is asked at present, which takes a while.
  var isAsking: Bool { writer != nil && Reactor.now >= spentUntil }

  /// Asks the model what a draft asks it; nil for one that does not.
  func write(_ draft: Draft, on reactor: isolated Reactor) async throws(PostgresError) -> Composition? {
    guard let question = draft.question else { return nil }
    let occasion = draft.occasion
    return try await write(
      question, for: occasion.userID, on: "\(occasion.campaign) \(occasion.slot) \(occasion.fireDate)", on: reactor)
  }

  /// Asks the model once; not at all where it was asked the same before.
  /// - Parameters:
  ///   - userID: for whom the text is.
  ///   - occasion: what it is about, such as a campaign and a day. With the prompt it makes the question.
  private func write(
    _ question: Draft.Question, for userID: HostID, on occasion: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Composition {
    guard let writer else { return Composition(by: "model", failure: "model_not_configured") }
    guard isAsking else { return Composition(by: "model", failure: "model_budget_spent") }
    let prompt = question.prompt
    let most = writer.usageMax(of: prompt)
    let answer = try await store.reserveModelUsage(
      for: ModelQuestion(of: userID, digest: prompt.digest(on: occasion)), tokens: most.inputTokens + most.outputTokens,
      costMicrodollars: most.costMicrodollars, within: limits, on: reactor)
    switch answer {
    case .refused(let reason):
      if reason == "model_budget_spent" { spentUntil = Reactor.now + 60_000_000_000 }
      return Composition(by: "model", failure: reason)
    case .answered(let reply): return Self.checked(.success(reply), question.check)
    case .reserved(let reservation):
      let written = await writer.write(prompt, within: question.limit, on: reactor)
      var composition = Self.checked(written.text, question.check)
      composition.usage = written.usage ?? CampaignUsage()
      let isFinal = composition.text != nil || composition.refusal != nil
      let reply = isFinal ? try? written.text.get() : nil
      do throws(PostgresError) {
        try await store.settle(reservation, composition.usage, reply: reply, on: reactor)
      } catch {
        // The reservation stays for the day, so usage is never undercounted.
        logger.warning("what a model used is not noted", metadata: ["error": "\(error)"])
      }
      return composition
    }
  }

  private static func checked(_ reply: Result<String, LanguageModelError>, _ check: ReplyCheck) -> Composition {
    var composition = Composition(by: "model")
    switch reply {
    case .failure(let failure): composition.failure = failure.rawValue
    case .success(let reply):
      composition.refusal = check.refusal(in: reply)
      if composition.refusal != nil {
        composition.failure = LanguageModelError.declined.rawValue
        return composition
      }
      do throws(ReplyDefect) {
        composition.text = try check.text(in: reply)
      } catch {
        composition.failure = error.rawValue
      }
    }
    return composition
  }
}

extension ModelPrompt {
  fileprivate func digest(on occasion: String) -> String {
    SHA256.hash(Array([occasion, instructions, material].joined(separator: "\0").utf8)).hexadecimal(bytes: 32)
  }
}

// The bodies of watched rows. Their events wait for it at most ten seconds, and then have the body of their kind: so they are pushed as
// well where no process runs campaigns.
extension ModelTexts {
  /// With a limit of two seconds, five at once take eight.
  private static let rowsMax = 20
  private static let concurrency = 5

  /// - Returns: how many events need wait no longer.
  func writeRows(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let tasks = try await store.takeRowTexts(Self.rowsMax, on: reactor)
    _ = await share(tasks, among: Self.concurrency, on: reactor) { await self.write($0, on: reactor) }
    return tasks.count
  }

  private func write(_ task: RowTextTask, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await store.keep(try await body(for: task, on: reactor), for: task, on: reactor)
    } catch {
      logger.warning("a row has no text of a model", metadata: ["kind": "\(task.kind)", "error": "\(error)"])
    }
  }

  private func body(for row: RowTextTask, on reactor: isolated Reactor) async throws(PostgresError) -> String? {
    // The database has checked the composer.
    guard let userID = row.userID, let task = try? ModelTask(DefinitionField(json: row.composer)),
      let facts = row.facts.flatMap(CampaignValues.init(json:))
    else { return nil }
    // The title is the kind's, and not known here.
    let question = task.question(with: facts.lines, title: "push")
    return try await write(question, for: userID, on: "\(row.kind) \(row.subjectID.text)", on: reactor).text?.body
  }
}

/// Writes check-ins with a language model.
package protocol CheckInWriter {
  /// The most tokens that one call may read and write, and their price.
  func usageMax(of prompt: ModelPrompt) -> CampaignUsage

  /// Writes one text within a bounded time.
  /// - Parameter limit: the time; nil for the writer's own.
  /// - Returns: the reply, with its usage as far as known.
  func write(_ prompt: ModelPrompt, within limit: Duration?, on reactor: isolated Reactor) async -> LanguageModelReply
}
