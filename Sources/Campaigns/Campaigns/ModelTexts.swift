internal import Cryptography
internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
package import PushStore
package import Reactors

/// Texts that a language model writes within the day's budget.
struct ModelTexts {
  struct Composition {
    var text: CampaignText?
    var writing: OccasionFindings.Writing
    var usage = CampaignUsage()
  }

  let store: PushDatabase
  let writer: (any CheckInWriter)?
  let limits: ModelUsageLimits
  let logger: Logger
  private let spent = SpentBudget()

  /// Whether a model is asked at present, which takes a while.
  var isAsking: Bool { writer != nil && !spent.isSpent }

  /// Asks the model what a draft asks it; nil for one that does not.
  func write(_ draft: Draft, on reactor: isolated Reactor) async throws(PostgresError) -> Composition? {
    guard let question = draft.question else { return nil }
    let occasion = draft.occasion
    return try await write(
      question.prompt, for: occasion.userID, on: "\(occasion.campaign) \(occasion.slot) \(occasion.fireDate)",
      within: question.limit, check: question.check, on: reactor)
  }

  /// Asks the model once; not at all where it was asked the same before.
  /// - Parameters:
  ///   - userID: for whom the text is.
  ///   - occasion: what it is about, such as a campaign and a day. With the prompt it makes the question.
  ///   - limit: how long it may take; nil for the writer's own limit.
  func write(
    _ prompt: ModelPrompt, for userID: HostID, on occasion: String, within limit: Duration? = nil, check: ReplyCheck,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Composition {
    func failed(_ reason: String) -> Composition { Composition(writing: .init(by: "model", failure: reason)) }
    guard let writer else { return failed("model_not_configured") }
    if spent.isSpent { return failed("model_budget_spent") }
    let most = writer.usageMax(of: prompt)
    let answer = try await store.reserveModelUsage(
      for: ModelQuestion(of: userID, digest: prompt.digest(on: occasion)), tokens: most.inputTokens + most.outputTokens,
      costMicrodollars: most.costMicrodollars, within: limits, on: reactor)
    switch answer {
    case .refused(let reason):
      if reason == "model_budget_spent" { spent.note() }
      return failed(reason)
    case .answered(let reply): return Self.checked(.success(reply), check)
    case .reserved(let reservation):
      let written = await writer.write(prompt, within: limit, on: reactor)
      var composition = Self.checked(written.text, check)
      composition.usage = written.usage
      let isFinal = composition.text != nil || composition.writing.refusal != nil
      let reply = isFinal ? try? written.text.get() : nil
      await settle(reservation, written.usage, reply: reply, on: reactor)
      return composition
    }
  }

  private static func checked(_ reply: Result<String, LanguageModelError.Code>, _ check: ReplyCheck) -> Composition {
    var composition = Composition(writing: .init(by: "model"))
    switch reply {
    case .failure(let failure): composition.writing.failure = failure.rawValue
    case .success(let reply):
      composition.writing.refusal = check.refusal(in: reply)
      if composition.writing.refusal != nil {
        composition.writing.failure = LanguageModelError.Code.declined.rawValue
        return composition
      }
      do throws(ReplyDefect) {
        composition.text = try check.text(in: reply)
      } catch {
        composition.writing.failure = error.rawValue
      }
    }
    return composition
  }

  /// An unsettled reservation stays for the day, so usage is never undercounted.
  private func settle(
    _ reservation: ModelUsageReservation, _ usage: CampaignUsage, reply: String?, on reactor: isolated Reactor
  ) async {
    do throws(PostgresError) {
      try await store.settle(reservation, usage, reply: reply, on: reactor)
    } catch {
      logger.warning("what a model used is not noted", metadata: ["error": "\(error)"])
    }
  }
}

/// Remembers for a minute that the day's budget was spent, so that nobody asks for each of many users.
private final class SpentBudget {
  private var until: UInt64 = 0

  var isSpent: Bool { Reactor.now < until }

  func note() { until = Reactor.now + 60_000_000_000 }
}

extension ModelPrompt {
  fileprivate func digest(on occasion: String) -> String {
    SHA256.hash(Array([occasion, instructions, material].joined(separator: "\0").utf8)).hexadecimal(bytes: 32)
  }
}

/// Has a language model write the bodies of watched rows. Their events wait for it at most ten seconds, and then have the body of
/// their kind: so they are pushed as well where no process runs campaigns.
struct RowTextWriter {
  /// With a limit of two seconds, five at once take eight.
  private static let rowsMax = 20
  private static let concurrency = 5

  let store: PushDatabase
  let texts: ModelTexts

  /// - Returns: how many events need wait no longer.
  func writeAll(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let tasks = try await store.takeRowTexts(Self.rowsMax, on: reactor)
    guard !tasks.isEmpty else { return 0 }
    _ = await WorkBatch(tasks, until: .max).run(workers: Self.concurrency, on: reactor) {
      await self.write($0, on: reactor)
    }
    return tasks.count
  }

  private func write(_ task: RowTextTask, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await store.keep(try await body(for: task, on: reactor), for: task, on: reactor)
    } catch {
      texts.logger.warning("a row has no text of a model", metadata: ["kind": "\(task.kind)", "error": "\(error)"])
    }
  }

  private func body(for row: RowTextTask, on reactor: isolated Reactor) async throws(PostgresError) -> String? {
    guard let userID = row.userID, let task = ModelTask(json: row.composer),
      let facts = row.facts.flatMap(CampaignValues.init(json:))
    else { return nil }
    // The title is the kind's, and not known here.
    let composition = try await texts.write(
      task.prompt(with: facts.lines, isBodyOnly: true), for: userID, on: "\(row.kind) \(row.subjectID.text)",
      within: task.limit, check: ReplyCheck(rules: task.rules, title: "push"), on: reactor)
    return composition.text?.body
  }
}

/// Writes check-ins with a language model.
package protocol CheckInWriter {
  /// The most tokens that one call may read and write, and their price.
  func usageMax(of prompt: ModelPrompt) -> CampaignUsage

  /// Writes one text within a bounded time.
  /// - Parameter limit: the time; nil for the writer's own.
  func write(_ prompt: ModelPrompt, within limit: Duration?, on reactor: isolated Reactor) async -> WrittenText
}

/// The result of a call for a text.
package struct WrittenText: Sendable {
  let text: Result<String, LanguageModelError.Code>
  /// The usage of the call, as far as known.
  let usage: CampaignUsage
}
