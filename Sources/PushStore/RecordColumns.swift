internal import FoundationEssentials
internal import Postgres

/// Decided events turned into the columns that ``PushStatements/record`` and ``PushStatements/recordFinished`` take.
struct RecordColumns {
  private var subjectIDs: [UUID] = []
  private var kinds: [String] = []
  private var userIDs: [UUID] = []
  private var decisions: [String] = []
  private var reasons: [String?] = []
  private var enqueued: [Int64] = []
  private var claimed: [Int64] = []
  private var woken: [Int64] = []
  private var decided: [Int64] = []
  private var accepted: [Int64?] = []
  private var devicesAccepted: [Int64] = []
  private var attempts: [Int64] = []
  private var due: [Int64?] = []
  private var remaining: [String?] = []
  private var acceptedDevices: [String] = []
  private var wokenBy: [String] = []
  private var isDelivery: [Bool] = []
  private var conversationIDs: [UUID?] = []
  private var held: [Int64] = []
  private var lanes: [String?] = []
  private var retries: [Int64] = []
  private var logIDs: [UUID] = []
  private var contents: [String?] = []
  private var histories: [String?] = []

  private var eventIDs: [UUID] = []
  private var eventKinds: [String] = []
  private var eventAttempts: [Int32] = []
  private var eventHasMore: [Bool] = []

  private var deadTokens: [String] = []
  private var deadReasons: [String] = []
  private var deadSince: [Int64] = []

  private var learntTokens: [String] = []
  private var learntEnvironments: [String] = []
  private var registeredEnvironments: [String?] = []
  private var registeredApps: [String?] = []
  private var readAt: [Int64] = []

  init(_ events: [DecidedEvent]) {
    for decided in events {
      for outcome in decided.outcomes { append(outcome, of: decided) }
      for token in decided.deadTokens { append(token) }
      for learnt in decided.learntEnvironments { append(learnt) }
      if decided.event.origin == .inbox { append(decided.event) }
    }
  }

  /// In the order of the parameters of ``PushStatements/recordFinished``.
  var finishedParameters: [any PostgresEncodable] {
    [
      subjectIDs, kinds, userIDs, decisions, reasons, enqueued, claimed, woken, decided, accepted, devicesAccepted,
      attempts, wokenBy, logIDs, contents, histories, eventIDs, eventKinds, eventAttempts,
    ]
  }

  /// In the order of the parameters of ``PushStatements/record``.
  var parameters: [any PostgresEncodable] {
    [
      subjectIDs, kinds, userIDs, decisions, reasons, enqueued, claimed, woken, decided, accepted, devicesAccepted,
      attempts, due, remaining, acceptedDevices, wokenBy, isDelivery, conversationIDs, held, lanes, retries, eventIDs,
      eventKinds, eventAttempts, eventHasMore, deadTokens, deadReasons, deadSince, learntTokens, learntEnvironments,
      registeredEnvironments, registeredApps, readAt, logIDs, contents,
      histories,
    ]
  }

  private mutating func append(_ outcome: RecipientOutcome, of decided: DecidedEvent) {
    let event = decided.event
    subjectIDs.append(event.subject.id)
    kinds.append(event.subject.kind)
    userIDs.append(outcome.userID)
    decisions.append(outcome.decision.rawValue)
    reasons.append(outcome.reason)
    enqueued.append(event.enqueuedAt)
    claimed.append(event.claimedAt)
    woken.append(outcome.wokenMicroseconds)
    self.decided.append(outcome.decidedMicroseconds)
    accepted.append(outcome.acceptedMicroseconds)
    devicesAccepted.append(Int64(outcome.acceptedDevices.count))
    attempts.append(Int64(event.attempts))
    due.append(outcome.due?.wholeMicroseconds)
    remaining.append(outcome.remaining?.rawValue)
    // Hexadecimal text, so a comma cannot be part of a token; an array of arrays of unequal lengths cannot be sent.
    acceptedDevices.append(outcome.acceptedDevices.joined(separator: ","))
    wokenBy.append(decided.wokenBy)
    isDelivery.append(event.origin == .delivery)
    conversationIDs.append(event.surfaceID)
    held.append(outcome.heldFor.wholeMicroseconds)
    lanes.append(outcome.lane)
    retries.append(Int64(outcome.retries))
    logIDs.append(event.logID(of: outcome.userID))
    contents.append(event.content)
    histories.append(HistoryEntry(outcome, of: decided)?.json)
  }

  private mutating func append(_ token: DeadDeviceToken) {
    deadTokens.append(token.token)
    deadReasons.append(token.reason)
    deadSince.append(token.invalidSince)
  }

  private mutating func append(_ learnt: LearntEnvironment) {
    learntTokens.append(learnt.device.token)
    learntEnvironments.append(learnt.environment)
    registeredEnvironments.append(learnt.device.environment)
    registeredApps.append(learnt.device.app)
    readAt.append(learnt.readAt)
  }

  private mutating func append(_ event: PushEvent) {
    eventIDs.append(event.subject.id)
    eventKinds.append(event.subject.kind)
    eventAttempts.append(Int32(clamping: event.attempts))
    eventHasMore.append(event.hasMore)
  }
}
