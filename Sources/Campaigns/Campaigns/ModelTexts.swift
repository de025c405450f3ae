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
    let most = writer.usageMax(of: prompt)
    let answer = try await store.reserveModelUsage(
      for: ModelQuestion(of: userID, digest: prompt.digest(on: occasion)), tokens: most.inputTokens + most.outputTokens,
      costMicrodollars: most.costMicrodollars, within: limits, on: reactor)
    switch answer {
    case .refused(let reason): return failed(reason)
    case .answered(let reply): return Self.checked(.success(reply), check)
    case .reserved(let reservation):
      let written = await writer.write(prompt, within: limit, on: reactor)
      var composition = Self.checked(written.text, check)
      composition.usage = written.usage
      let reply = composition.text == nil ? nil : try? written.text.get()
      await settle(reservation, written.usage, reply: reply, on: reactor)
      return composition
    }
  }

  private static func checked(_ reply: Result<String, WritingFailure>, _ check: ReplyCheck) -> Composition {
    var composition = Composition(writing: .init(by: "model"))
    switch reply {
    case .failure(let failure): composition.writing.failure = failure.reason
    case .success(let reply):
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
    // The title is the kind's.
    let form = ReplyForm.body(title: "push")
    let composition = try await texts.write(
      task.prompt(for: form, with: facts.lines), for: userID, on: "\(row.kind) \(row.subjectID.text)",
      within: task.limit, check: ReplyCheck(form: form, rules: task.rules), on: reactor)
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
  let text: Result<String, WritingFailure>
  /// The usage of the call, as far as known.
  let usage: CampaignUsage
}

struct WritingFailure: Error {
  /// A word for records and metrics, such as `model_timed_out`.
  let reason: String
}

/// A language model that writes check-ins, with its prices.
package struct ModelWriter: CheckInWriter {
  /// The least bytes of a token, in any language.
  private static let bytesPerToken = 2
  /// Tokens that the interface adds to the texts.
  private static let framingTokens = 50

  private let client: LanguageModelClient
  private let replyTokensMax: Int
  private let inputPrice: Double
  private let outputPrice: Double

  /// - Parameters:
  ///   - replyTokensMax: the client's setting.
  ///   - inputPrice: the price of a token that the model reads, in millionths of a dollar, from 0 to 10,000.
  ///   - outputPrice: likewise of a token that it writes.
  package init(_ client: LanguageModelClient, replyTokensMax: Int, inputPrice: Double, outputPrice: Double) {
    self.client = client
    self.replyTokensMax = replyTokensMax
    self.inputPrice = inputPrice
    self.outputPrice = outputPrice
  }

  /// Assumes two bytes for each token of the prompt, and a reply of the greatest length.
  package func usageMax(of prompt: ModelPrompt) -> CampaignUsage {
    let bytes = prompt.instructions.utf8.count + prompt.material.utf8.count
    return usage(
      LanguageModelUsage(inputTokens: bytes / Self.bytesPerToken + Self.framingTokens, outputTokens: replyTokensMax))
  }

  /// A call that may have been billed without a reported usage counts with the maximum.
  package func write(
    _ prompt: ModelPrompt, within limit: Duration?, on reactor: isolated Reactor
  ) async -> WrittenText {
    do throws(LanguageModelError) {
      let reply = try await client.reply(to: prompt, within: limit, on: reactor)
      return WrittenText(text: .success(reply.text), usage: reply.usage.map(usage) ?? usageMax(of: prompt))
    } catch {
      let known = error.usage.map(usage) ?? (error.code.mayHaveCost ? usageMax(of: prompt) : CampaignUsage())
      return WrittenText(text: .failure(WritingFailure(reason: error.code.rawValue)), usage: known)
    }
  }

  private func usage(_ tokens: LanguageModelUsage) -> CampaignUsage {
    var usage = CampaignUsage()
    usage.inputTokens = tokens.inputTokens
    usage.outputTokens = tokens.outputTokens
    let cost = Double(tokens.inputTokens) * inputPrice + Double(tokens.outputTokens) * outputPrice
    usage.costMicrodollars = Int(cost.rounded(.up))
    return usage
  }
}

extension LanguageModelError.Code {
  /// Whether the model may have written something before the call failed.
  fileprivate var mayHaveCost: Bool {
    switch self {
    case .timedOut, .connectionLost, .unusableReply, .truncatedReply, .declined, .replyTooLarge, .cancelled, .closed:
      true
    default: false
    }
  }
}
