package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

// What apps report of slots; see db/functions/slot_reports.sql.
extension PushDatabase {
  /// Notes an action that a user has taken of a notification, once, and calls the campaign's function for it.
  package func report(
    _ action: SlotActionReport, of userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SlotActionOutcome {
    let call = StatementCall.reportSlotAction(
      userID: userID, eventID: action.id, action: action.action, identifier: action.row.text,
      happenedMicroseconds: action.happenedAt)
    let row = try await pool.query(call, on: reactor).one()
    let outcome: String = try row.decode("outcome")
    let answer: String = try row.decode("answer", as: String?.self) ?? "{}"
    return switch outcome {
    case "noted": .noted(answer: answer)
    case "repeated": .repeated(answer: answer)
    case "other_report": .otherReport
    case "too_many": .tooMany
    default: .unknownRow
    }
  }

  /// Notes events of a user's app, each once, and what follows from them for rows and devices.
  /// - Parameter events: in the order in which they happened.
  /// - Returns: those that were not known before; nil for a user who has reported enough.
  package func report(
    _ events: [SlotEvent], of userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SlotEvent]? {
    let call = StatementCall.reportSlotEvents(
      userID: userID, ids: events.map(\.id), codes: events.map(\.code.rawValue), identifiers: events.map(\.row?.text),
      deviceTokens: events.map(\.deviceToken), circumstances: events.map(\.circumstances),
      happenedMicroseconds: events.map(\.happenedAt))
    var new: [SlotEvent] = []
    for row in try await pool.query(call, on: reactor) {
      let place: Int = try row.decode("place")
      guard place > 0 else { return nil }
      new.append(events[place - 1])
    }
    return new
  }
}

/// The name of an occasion of a slot for a user's devices: `<campaign>.<slot>.<fire_date>`, such as `ritual.0800.2026-11-22`.
package struct SlotIdentifier: Equatable, Sendable {
  package let text: String
  package let campaign: String

  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, PushSubject.canBeKind(parts[0]), UserSlot.isSlot(parts[1]), InstantText.isDate(parts[2])
    else { return nil }
    (self.text, campaign) = (text, parts[0])
  }
}

/// An action that a user has taken of a notification.
package struct SlotActionReport: Equatable, Sendable {
  /// The report's id; a repeated report has the same.
  package let id: UUID
  package let action: String
  package let row: SlotIdentifier
  /// When it was taken, microseconds since 1970.
  package let happenedAt: Int64

  package init(id: UUID, action: String, row: SlotIdentifier, happenedAt: Int64) {
    self.id = id
    self.action = action
    self.row = row
    self.happenedAt = happenedAt
  }
}

/// The outcome of such a report. Answers are JSON objects of the campaign.
package enum SlotActionOutcome: Equatable, Sendable {
  /// It was the first report of its id.
  case noted(answer: String)
  /// It was reported before; nothing was changed.
  case repeated(answer: String)
  /// Its id was used for another report; nothing was changed.
  case otherReport
  /// The user has no such row; nothing was changed.
  case unknownRow
  /// As many reports of the user are kept as may be; nothing was changed.
  case tooMany
}

/// What an app reports of a row or of its device.
package struct SlotEvent: Equatable, Sendable {
  /// Acknowledgements and codes, as apps write them.
  package enum Code: String, CaseIterable, Sendable {
    /// The device shows the row by itself.
    case armed
    /// The notification was shown.
    case delivered
    /// The user has opened the app from it.
    case opened
    case dismissed
    /// The device shows the row no longer by itself.
    case cancelled
    case fetchTimeout = "FETCH_TIMEOUT"
    case contentNotModified = "ETAG_NOT_MODIFIED"
    /// The device may not show notifications by itself.
    case scheduleDenied = "SCHEDULE_DENIED"
    /// The device's alarms are inexact.
    case exactAlarmMissing = "EXACT_ALARM_MISSING"
    case storageBusy = "STORAGE_BUSY"
    /// A text lacked a value.
    case templateMissingToken = "TEMPLATE_MISSING_TOKEN"
    /// The device may not show notifications.
    case permissionDenied = "PERMISSION_DENIED"
  }

  /// The event's id; a repeated event has the same.
  package let id: UUID
  package let code: Code
  /// The row it is about; nil when it is about the device.
  package let row: SlotIdentifier?
  /// The device, in lower case; nil when unknown.
  package let deviceToken: String?
  /// When it happened, microseconds since 1970.
  package let happenedAt: Int64
  /// What else the app says of it, a JSON object that is kept as it is.
  package let circumstances: String

  package init(
    id: UUID, code: Code, row: SlotIdentifier?, deviceToken: String?, circumstances: String = "{}", happenedAt: Int64
  ) {
    self.circumstances = circumstances
    self.id = id
    self.code = code
    self.row = row
    self.deviceToken = deviceToken
    self.happenedAt = happenedAt
  }
}
