package import Postgres
package import PushRules
package import Reactors

/// What a language model may use on a day of UTC, all processes together.
package struct ModelUsageLimits: Equatable, Sendable {
  /// Tokens, read and written.
  package var tokensMax: Int
  package var costMicrodollarsMax: Int

  package init(tokensMax: Int, costMicrodollarsMax: Int) {
    self.tokensMax = tokensMax
    self.costMicrodollarsMax = costMicrodollarsMax
  }
}

/// What is asked of a model for a user.
package struct ModelQuestion: Equatable, Sendable {
  let userID: HostID
  let digest: String

  /// - Parameter digest: of the prompt and of what it is about, 64 bytes at most: the same question has one reply.
  package init(of userID: HostID, digest: String) {
    self.userID = userID
    self.digest = digest
  }
}

/// What was set aside for one call. It counts as used until it is settled; for the rest of the day, if its process dies.
package struct ModelUsageReservation: Equatable, Sendable {
  let question: ModelQuestion
  let day: String
  let tokens: Int
  let costMicrodollars: Int
}

/// Whether a model may be asked.
package enum ModelUsageAnswer: Equatable, Sendable {
  case reserved(ModelUsageReservation)
  /// The same was asked before: the reply.
  case answered(String)
  /// `model_budget_spent`, or `model_user_budget_spent` where the user's own part of it is.
  case refused(String)
}

extension PushDatabase {
  package func reserveModelUsage(
    for question: ModelQuestion, tokens: Int, costMicrodollars: Int, within limits: ModelUsageLimits,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> ModelUsageAnswer {
    let call = StatementCall.reserveModelUsage(
      userID: question.userID, question: question.digest, tokens: tokens, costMicrodollars: costMicrodollars,
      tokensMax: limits.tokensMax, costMicrodollarsMax: limits.costMicrodollarsMax)
    let row = try await pool.query(call, on: reactor).one()
    let (reply, refusal): (String?, String?) = (try row.decode("reply"), try row.decode("refusal"))
    if let reply { return .answered(reply) }
    if let refusal { return .refused(refusal) }
    return .reserved(
      ModelUsageReservation(
        question: question, day: try row.decode("day"), tokens: tokens, costMicrodollars: costMicrodollars))
  }

  /// Says what the call has used.
  /// - Parameter reply: kept as the answer to the same question; nil for one that may not be sent.
  package func settle(
    _ reservation: ModelUsageReservation, _ usage: CampaignUsage, reply: String?, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .settleModelUsage(
        day: reservation.day, reservedTokens: reservation.tokens,
        reservedMicrodollars: reservation.costMicrodollars, inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens, costMicrodollars: usage.costMicrodollars,
        userID: reservation.question.userID, question: reservation.question.digest, reply: reply), on: reactor)
  }
}

/// What a language model has used.
package struct CampaignUsage: Equatable, Sendable {
  package var inputTokens: Int
  package var outputTokens: Int
  package var costMicrodollars: Int

  package init(inputTokens: Int = 0, outputTokens: Int = 0, costMicrodollars: Int = 0) {
    self.inputTokens = inputTokens
    self.outputTokens = outputTokens
    self.costMicrodollars = costMicrodollars
  }
}

/// A row of a watched kind whose body a language model is to write.
package struct RowTextTask: Sendable {
  package let kind: String
  package let subjectID: HostID
  package let userID: HostID?
  /// What is asked, as the kind's composer has it.
  package let composer: String
  /// What is known, as JSON; nil when it could not be read.
  package let facts: String?
}

extension PushDatabase {
  /// Takes events that wait for a text, each once.
  package func takeRowTexts(
    _ rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [RowTextTask] {
    try await pool.query(.takeRowTexts(rowsMax: Int32(clamping: rowsMax)), on: reactor).map {
      row throws(PostgresError) in
      RowTextTask(
        kind: try row.decode("kind"), subjectID: try row.decode("subject_id"), userID: try row.decode("user_id"),
        composer: try row.decode("composer"), facts: try row.decode("facts"))
    }
  }

  /// Lets an event be pushed that waits for a text.
  /// - Parameter body: nil for the kind's own.
  package func keep(
    _ body: String?, for task: RowTextTask, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(.keepRowText(kind: task.kind, subjectID: task.subjectID, body: body), on: reactor)
  }
}
