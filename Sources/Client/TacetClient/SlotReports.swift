public import Foundation

/// What a device did with a notification, or could not do.
public struct SlotEvent: Hashable, Sendable, Codable {
  /// Acknowledgements and errors.
  public enum Code: String, Sendable, Codable {
    /// The device shows the notification by itself.
    case armed
    /// The notification was shown.
    case delivered
    /// It opened the app.
    case opened
    /// The user has removed it.
    case dismissed
    /// The device shows it no longer by itself.
    case cancelled
    /// Content was not fetched in time.
    case fetchTimeout = "FETCH_TIMEOUT"
    /// Content is unchanged.
    case contentNotModified = "ETAG_NOT_MODIFIED"
    /// The device may not show notifications by itself.
    case scheduleDenied = "SCHEDULE_DENIED"
    /// The device's alarms are inexact.
    case exactAlarmMissing = "EXACT_ALARM_MISSING"
    /// The app's storage was busy.
    case storageBusy = "STORAGE_BUSY"
    /// A text lacked a value.
    case templateMissingToken = "TEMPLATE_MISSING_TOKEN"
    /// The device may not show notifications.
    case permissionDenied = "PERMISSION_DENIED"
  }

  /// The state of the network.
  public enum NetworkState: String, Sendable, Codable {
    /// The device was online.
    case online
    /// The device was offline.
    case offline
    /// The app does not know.
    case unknown
  }

  /// The state of the app.
  public enum AppState: String, Sendable, Codable {
    /// In the foreground.
    case active
    /// In the background.
    case background
    /// Not running.
    case killed
  }

  /// Made once for each event, so that a repeated report counts once.
  public var id = UUID()
  /// What happened.
  public var code: Code
  /// The time of the user's day, such as `0800`.
  public var slot: String
  /// The notification's identifier; nil for an event of the device.
  public var identifier: String?
  /// This device. Acknowledgements of armed notifications and missing permissions need it.
  public var deviceToken: Data?
  /// When the notification is due.
  public var due: Date
  /// Tries so far.
  public var attempt = 1
  /// The state of the network.
  public var networkState = NetworkState.unknown
  /// Minutes from UTC to the device's time.
  public var zoneOffset = TimeZone.current.secondsFromGMT() / 60
  /// The state of the app.
  public var appState = AppState.active
  /// When it happened.
  public var date = Date()

  /// An event that happens now.
  public init(_ code: Code, slot: String, identifier: String? = nil, deviceToken: Data? = nil, due: Date = Date()) {
    self.code = code
    self.slot = slot
    self.identifier = identifier
    self.deviceToken = deviceToken
    self.due = due
  }

  /// An event of a notification that happens now.
  public init(_ code: Code, of row: ScheduledNotification, deviceToken: Data? = nil) {
    self.init(code, slot: row.slot, identifier: row.identifier, deviceToken: deviceToken, due: row.fireAt)
  }

  private enum CodingKeys: String, CodingKey {
    case id, code, slotId, identifier, whenMs, attempt, networkState, tzOffset, appState, timestamp
    case deviceToken = "device_token"
  }

  /// Writes the service's document.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(id.uuidString.lowercased(), forKey: .id)
    try body.encode(code, forKey: .code)
    try body.encode(slot, forKey: .slotId)
    try body.encodeIfPresent(identifier, forKey: .identifier)
    try body.encodeIfPresent(deviceToken.map(DeviceRegistration.text), forKey: .deviceToken)
    try body.encode(Self.milliseconds(of: due), forKey: .whenMs)
    try body.encode(attempt, forKey: .attempt)
    try body.encode(networkState, forKey: .networkState)
    try body.encode(zoneOffset, forKey: .tzOffset)
    try body.encode(appState, forKey: .appState)
    try body.encode(Self.milliseconds(of: date), forKey: .timestamp)
  }

  /// Reads the service's document, as this type writes it.
  public init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    id = try body.decode(UUID.self, forKey: .id)
    code = try body.decode(Code.self, forKey: .code)
    slot = try body.decode(String.self, forKey: .slotId)
    identifier = try body.decodeIfPresent(String.self, forKey: .identifier)
    deviceToken = try body.decodeIfPresent(String.self, forKey: .deviceToken).flatMap(DeviceRegistration.token)
    due = Self.date(of: try body.decode(Int64.self, forKey: .whenMs))
    attempt = try body.decode(Int.self, forKey: .attempt)
    networkState = try body.decode(NetworkState.self, forKey: .networkState)
    zoneOffset = try body.decode(Int.self, forKey: .tzOffset)
    appState = try body.decode(AppState.self, forKey: .appState)
    date = Self.date(of: try body.decode(Int64.self, forKey: .timestamp))
  }

  private static func date(of milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// Since 1970. What the service does not take, before 1970 and after 2999, is the nearest that it takes.
  private static func milliseconds(of date: Date) -> Int64 {
    Int64(min(max((date.timeIntervalSince1970 * 1000).rounded(), 0), 32_503_680_000_000))
  }
}

/// A user's action of a notification.
public struct SlotAction: Hashable, Sendable, Codable {
  /// Made once for each action, so that a repeated report counts once.
  public let id: UUID
  /// The action's identifier in its category, such as `DID_THIS`.
  public let action: String
  /// The notification's identifier.
  public let identifier: String
  /// When it was taken; not older than 14 days.
  public let date: Date

  /// Describes one.
  public init(_ action: String, of identifier: String, at date: Date = Date(), id: UUID = UUID()) {
    self.id = id
    self.action = action
    self.identifier = identifier
    self.date = date
  }

  private enum CodingKeys: String, CodingKey {
    case id, action, identifier, at
  }

  private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// Writes the service's document.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(id.uuidString.lowercased(), forKey: .id)
    try body.encode(action, forKey: .action)
    try body.encode(identifier, forKey: .identifier)
    // The style cuts. A quarter of a millisecond more keeps a time that was read from losing one with each writing.
    let time = Date(timeIntervalSince1970: ((date.timeIntervalSince1970 * 1000).rounded() + 0.25) / 1000)
    try body.encode(time.formatted(Self.timeStyle), forKey: .at)
  }

  /// Reads the service's document.
  public init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    id = try body.decode(UUID.self, forKey: .id)
    action = try body.decode(String.self, forKey: .action)
    identifier = try body.decode(String.self, forKey: .identifier)
    date = try Self.timeStyle.parse(try body.decode(String.self, forKey: .at))
  }

  /// Whether the service takes a button's identifier: 1 to 64 letters, digits and `_.-`.
  static func isName(_ button: String) -> Bool {
    (1...64).contains(button.utf8.count) && button.utf8.allSatisfy(\.isInNames)
  }
}

/// What the campaign answers to an action.
public struct SlotActionAnswer: Hashable, Sendable, Decodable {
  /// Of a ritual: consecutive days with a completion.
  public let streak: Int?
}

/// What the service did with reported events.
public struct SlotEventReceipt: Hashable, Sendable, Decodable {
  /// An event that it does not take; sending it again does not help.
  public struct Rejection: Hashable, Sendable, Decodable {
    /// The event's place, from 0.
    public let index: Int
    /// The wrong member.
    public let field: String?
  }

  /// New events.
  public let accepted: Int
  /// Events that were reported before.
  public let duplicates: Int
  /// Events that cannot be used.
  public let rejected: [Rejection]
}
