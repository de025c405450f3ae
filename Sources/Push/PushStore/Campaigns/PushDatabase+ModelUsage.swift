public import Postgres
public import Reactors

/// What a language model may use on a day of UTC, all processes together.
public struct ModelUsageLimits: Equatable, Sendable {
  /// Tokens, read and written.
  public var tokensMax: Int
  /// Millionths of a dollar.
  public var costMicrodollarsMax: Int

  /// Joins them.
  public init(tokensMax: Int, costMicrodollarsMax: Int) {
    self.tokensMax = tokensMax
    self.costMicrodollarsMax = costMicrodollarsMax
  }
}

/// What was set aside for one call. It counts as used until it is settled; for the rest of the day, if its process dies.
public struct ModelUsageReservation: Equatable, Sendable {
  let day: String
  let tokens: Int
  let costMicrodollars: Int
}

extension PushDatabase {
  /// Sets something aside for a call.
  /// - Returns: nil when that would be more than the day's limits leave.
  public func reserveModelUsage(
    tokens: Int, costMicrodollars: Int, within limits: ModelUsageLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ModelUsageReservation? {
    let call = StatementCall.reserveModelUsage(
      tokens: tokens, costMicrodollars: costMicrodollars, tokensMax: limits.tokensMax,
      costMicrodollarsMax: limits.costMicrodollarsMax)
    guard let row = try await pool.query(call, on: reactor).first else { return nil }
    return ModelUsageReservation(day: try row.decode(0), tokens: tokens, costMicrodollars: costMicrodollars)
  }

  /// Says what the call has used.
  public func settle(
    _ reservation: ModelUsageReservation, _ usage: CampaignUsage, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .settleModelUsage(
        day: reservation.day, reservedTokens: reservation.tokens,
        reservedMicrodollars: reservation.costMicrodollars, inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens, costMicrodollars: usage.costMicrodollars), on: reactor)
  }
}

/// What a language model has used.
public struct CampaignUsage: Equatable, Sendable {
  /// Tokens it has read.
  public var inputTokens = 0
  /// Tokens it has written.
  public var outputTokens = 0
  /// Millionths of a dollar.
  public var costMicrodollars = 0

  /// Nothing.
  public init() {}
}
