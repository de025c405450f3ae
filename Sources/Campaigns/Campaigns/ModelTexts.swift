internal import Cryptography
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Texts that a language model writes within the day's budget.
struct ModelTexts {
  struct Composition {
    var text: CampaignText?
    var writing: CampaignInputs.Writing
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
  ///   - check: reads a reply, and refuses one that breaks a rule.
  func write(
    _ prompt: CheckInPrompt, for userID: HostID, on occasion: String, within limit: Duration? = nil,
    on reactor: isolated Reactor, check: (String) throws(ReplyDefect) -> CheckInReply
  ) async throws(PostgresError) -> Composition {
    guard let writer else { return failed("model_not_configured") }
    let most = writer.usageMax(of: prompt)
    let answer = try await store.reserveModelUsage(
      for: ModelQuestion(of: userID, digest: prompt.digest(on: occasion)), tokens: most.inputTokens + most.outputTokens,
      costMicrodollars: most.costMicrodollars, within: limits, on: reactor)
    var composition = Composition(writing: .init(by: "model"))
    switch answer {
    case .refused(let reason): composition.writing.failure = reason
    case .answered(let reply): composition.check(.success(reply), check)
    case .reserved(let reservation):
      let written = await writer.write(prompt, within: limit, on: reactor)
      composition.usage = written.usage
      composition.check(written.text, check)
      let reply = composition.text == nil ? nil : try? written.text.get()
      await settle(reservation, written.usage, reply: reply, on: reactor)
    }
    return composition
  }

  private func failed(_ reason: String) -> Composition {
    Composition(writing: .init(by: "model", failure: reason))
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

extension ModelTexts.Composition {
  fileprivate mutating func check(
    _ reply: Result<String, WritingFailure>, _ check: (String) throws(ReplyDefect) -> CheckInReply
  ) {
    switch reply {
    case .failure(let failure): writing.failure = failure.reason
    case .success(let reply):
      do throws(ReplyDefect) {
        text = try check(reply).text
      } catch {
        writing.failure = error.rawValue
      }
    }
  }
}

extension CheckInPrompt {
  fileprivate func digest(on occasion: String) -> String {
    SHA256.hash(Array([occasion, instructions, material].joined(separator: "\0").utf8)).hexadecimal(bytes: 32)
  }
}
