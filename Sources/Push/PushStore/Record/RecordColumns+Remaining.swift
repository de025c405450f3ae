internal import FoundationEssentials
internal import PushRules

// Of events with work that remains, and with findings about device tokens.
extension RecordColumns {
  var record: StatementCall {
    let (dead, learnt) = (events.flatMap(\.deadTargets), events.flatMap(\.learntEnvironments))
    return .record(
      subjectIDs: subjectIDs, kinds: kinds, userIDs: userIDs, decisions: decisions, reasons: reasons,
      enqueuedMicroseconds: enqueued, claimedMicroseconds: claimed, wokenMicroseconds: woken,
      decidedMicroseconds: decided, acceptedMicroseconds: accepted, devicesAccepted: devicesAccepted,
      attempts: attempts, dueMicroseconds: due, states: remaining, acceptedDevices: acceptedDevices, wokenBy: wokenBy,
      areDeliveries: isDelivery, conversationIDs: conversationIDs, heldMicroseconds: held, lanes: lanes,
      retries: retries, deviceWaits: deviceWaits, logIDs: logIDs, contents: contents, histories: histories,
      eventIDs: eventIDs,
      eventKinds: eventKinds, eventAttempts: eventAttempts, eventsHaveMore: inboxEvents.map(\.hasMore),
      deadTokens: dead.map(\.address), deadReasons: dead.map(\.reason), deadSinceMicroseconds: dead.map(\.invalidSince),
      learntTokens: learnt.map(\.target.address), learntEnvironments: learnt.map(\.environment),
      learntRegisteredEnvironments: learnt.map(\.target.environment), learntRegisteredApps: learnt.map(\.target.app),
      learntReadMicroseconds: learnt.map(\.readAt))
  }

  private var due: [Int64?] { column { outcome, _ in outcome.dueAfterClaim } }
  private var remaining: [String?] { column { outcome, _ in outcome.remaining?.rawValue } }
  // Hexadecimal text, so a comma cannot be part of a mark; an array of arrays of unequal lengths cannot be sent.
  private var acceptedDevices: [String] { column { outcome, _ in outcome.acceptedDevices.joined(separator: ",") } }
  private var isDelivery: [Bool] { column { $1.event.origin == .delivery } }
  private var conversationIDs: IDColumn { IDColumn(column { $1.event.surfaceID }) }
  private var held: [Int64] { column { outcome, _ in outcome.heldFor.wholeMicroseconds } }
  private var lanes: [String?] { column { outcome, _ in outcome.lane } }
  private var deviceWaits: [String?] {
    column { outcome, _ in
      guard !outcome.deviceWaits.isEmpty, let json = try? JSONEncoder().encode(outcome.deviceWaits) else { return nil }
      return String(decoding: json, as: UTF8.self)
    }
  }
  private var retries: [Int64] { column { outcome, _ in Int64(outcome.retries) } }
}
