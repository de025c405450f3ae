public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// Slots: texts at times of the user's day, which the app shows by itself or gets as pushes.
extension PushServiceClient {
  /// Reads what this device is to show. ``ScheduleKeeper`` does it and arms the rows. An app that arms them itself calls it
  /// at each start and for each background push whose `type` is `schedule_changed`, arms each row as a local notification
  /// under its identifier, removes those that are gone, and reports each as ``SlotEvent/Code/armed``.
  /// - Parameters:
  ///   - days: from today on, 1 to 7.
  ///   - max: the number of rows, 1 to 64.
  ///   - deviceToken: of this device. The service then knows how exact its alarms are.
  ///   - known: the schedule that the app has.
  /// - Returns: the schedule; nil when it is the known one.
  public func schedule(
    days: Int = 7, max: Int = 64, deviceToken: Data? = nil, unless known: SlotSchedule? = nil
  ) async throws(PushServiceError) -> SlotSchedule? {
    var query = [URLQueryItem(name: "days", value: "\(days)"), URLQueryItem(name: "max", value: "\(max)")]
    if let deviceToken {
      query.append(URLQueryItem(name: "device_token", value: DeviceRegistration.text(of: deviceToken)))
    }
    guard let (found, tag) = try await read(SlotSchedule.self, "schedule", query, unless: known?.tag) else {
      return nil
    }
    var schedule = found
    schedule.tag = tag
    return schedule
  }

  /// Reads the feature flags and the categories to register.
  /// - Parameter known: the configuration that the app has.
  /// - Returns: the configuration; nil when it is the known one.
  public func configuration(
    unless known: SlotConfiguration? = nil
  ) async throws(PushServiceError) -> SlotConfiguration? {
    guard let (found, tag) = try await read(SlotConfiguration.self, "config", unless: known?.tag) else { return nil }
    var configuration = found
    configuration.tag = tag
    return configuration
  }

  /// When the user gets what of a campaign.
  public func slots(of campaign: String) async throws(PushServiceError) -> UserSlots {
    try JSONDecoder().answer(try await send("GET", ["v1", "slots", campaign]))
  }

  /// Replaces the user's slots in a campaign.
  /// - Returns: what the device is to show from now on.
  public func choose(_ slots: UserSlots, of campaign: String) async throws(PushServiceError) -> SlotSchedule {
    let content = JSONEncoder().content(slots)
    return try JSONDecoder().answer(try await send("PUT", ["v1", "slots", campaign], content))
  }

  /// Asks for a push of what a slot says next, at most once a minute.
  @discardableResult
  public func deliver(slot: String, of campaign: String) async throws(PushServiceError) -> SlotDelivery {
    try JSONDecoder().answer(try await send("POST", ["v1", "slots", campaign, slot, "deliver"], tries: 1))
  }

  /// Reports an action of a notification. Keep a failed report and send it again: the service counts it once.
  /// - Returns: the campaign's answer.
  @discardableResult
  public func report(_ action: SlotAction) async throws(PushServiceError) -> SlotActionAnswer {
    try JSONDecoder().answer(try await send("POST", ["v1", "actions"], JSONEncoder().content(action)))
  }

  /// Reports what the device did, in the order in which it happened. Keep failed reports and send them again: the service
  /// counts each once.
  /// - Parameter events: at most 100.
  @discardableResult
  public func report(_ events: [SlotEvent]) async throws(PushServiceError) -> SlotEventReceipt {
    let content = JSONEncoder().content(["events": events])
    return try JSONDecoder().answer(try await send("POST", ["v1", "telemetry"], content))
  }

  /// Reads a document unless it has an entity tag; the tag of what was read, empty without one.
  private func read<Document: Decodable>(
    _ type: Document.Type, _ name: String, _ query: [URLQueryItem] = [], unless tag: String?
  ) async throws(PushServiceError) -> (Document, String)? {
    var request = ServiceRequest(method: "GET", path: ["v1", name], query: query)
    if let tag, !tag.isEmpty { request.fields["If-None-Match"] = tag }
    let (content, answer) = try await exchange(request)
    guard answer.statusCode != 304 else { return nil }
    return (try JSONDecoder().answer(content), answer.value(forHTTPHeaderField: "ETag") ?? "")
  }
}

extension JSONDecoder {
  /// The content of a success. One that cannot be read comes from an incompatible service.
  fileprivate func answer<Answer: Decodable>(_ content: Data) throws(PushServiceError) -> Answer {
    guard let answer = try? decode(Answer.self, from: content) else { throw PushServiceError(.refused) }
    return answer
  }
}

/// What a device is to show by itself.
public struct SlotSchedule: Hashable, Sendable, Codable {
  /// The most rows of an answer. The service sends 64.
  static let rowsMax = 1024

  /// The soonest first.
  public let rows: [ScheduledNotification]
  /// Whether the app should ask its user to allow exact alarms in the system's settings.
  public let settingsHint: Bool

  /// The document's entity tag; empty when unknown.
  var tag = ""

  private enum CodingKeys: String, CodingKey {
    case rows, tag
    case settingsHint = "settings_hint"
  }

  /// Reads the service's document, and what this type has written.
  /// - Throws: `DecodingError` when a row has no usable identifier or time, because then the others are in doubt.
  public init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    rows = try body.decode([ScheduledNotification].self, forKey: .rows)
    settingsHint = try body.decode(Bool.self, forKey: .settingsHint)
    tag = (try? body.decode(String.self, forKey: .tag)) ?? ""
    guard rows.count <= Self.rowsMax, rows.allSatisfy(\.isUsable) else {
      throw DecodingError.dataCorruptedError(forKey: .rows, in: body, debugDescription: "a row cannot be used")
    }
  }
}

/// One notification of it.
public struct ScheduledNotification: Hashable, Sendable, Codable {
  /// Of the local request. A push of the same row has it too, so a device that gets both shows one.
  public let identifier: String
  /// The campaign.
  public let campaign: String
  /// The time of the user's day, such as `0800`.
  public let slot: String
  /// The user's day, such as `2026-11-22`.
  public let fireDate: String
  /// When to show it, on the user's clock and in whatever zone the device is by then: `2026-11-22T08:00:00`.
  public let localTime: String
  /// The first line.
  public let title: String
  /// The text.
  public let body: String
  /// The category, one of ``SlotConfiguration/categories``.
  public let category: String
  /// The thread.
  public let threadID: String
  /// The custom members of a push of it, for `userInfo`.
  public let data: [String: NotificationValue]
  /// How late or early it may be shown, in seconds.
  public let toleranceSeconds: Int
  /// Changes where the service has forgotten which devices have armed it. Older services do not have it.
  let renderedAt: String?
  private let fireAtText: String

  /// When to show it.
  public var fireAt: Date {
    (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(fireAtText)) ?? .distantFuture
  }

  /// Whether its identifier and its time have their form.
  var isUsable: Bool { SlotIdentifier(identifier) != nil && LocalTime(localTime) != nil && toleranceSeconds >= 0 }

  private enum CodingKeys: String, CodingKey {
    case identifier, campaign, slot, title, body, category, data
    case fireDate = "fire_date"
    case fireAtText = "fire_at"
    case localTime = "local_time"
    case renderedAt = "rendered_at"
    case threadID = "thread_id"
    case toleranceSeconds = "tolerance_seconds"
  }
}

/// A custom member of a notification, or a flag.
public enum NotificationValue: Hashable, Sendable, Codable {
  /// A text.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// True or false.
  case boolean(Bool)
  /// Anything else.
  case other

  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let number = try? value.decode(Int.self) {
      self = .integer(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else {
      self = .other
    }
  }

  /// Writes the JSON value; null for anything else.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .string(let text): try value.encode(text)
    case .integer(let number): try value.encode(number)
    case .boolean(let truth): try value.encode(truth)
    case .other: try value.encodeNil()
    }
  }
}

/// When a user gets what of a campaign.
public struct UserSlots: Hashable, Sendable, Codable {
  /// One time of the day.
  public struct Slot: Hashable, Sendable, Codable {
    /// Hours and minutes, such as `0800`.
    public var slot: String
    /// What is said; keep it when the time changes.
    public var phase: String?
    /// Whether it is on.
    public var enabled: Bool
    /// 1 for Monday to 7 for Sunday; nil for every day.
    public var weekdays: [Int]?

    /// Describes one.
    public init(slot: String, phase: String? = nil, enabled: Bool = true, weekdays: [Int]? = nil) {
      self.slot = slot
      self.phase = phase
      self.enabled = enabled
      self.weekdays = weekdays
    }
  }

  /// Whether the campaign is on.
  public var enabled: Bool
  /// 1 to 24, each time and each phase once.
  public var slots: [Slot]

  /// Joins them.
  public init(enabled: Bool, slots: [Slot]) {
    self.enabled = enabled
    self.slots = slots
  }
}

/// Whether a push was queued.
public struct SlotDelivery: Hashable, Sendable, Decodable {
  /// Whether it was.
  public let queued: Bool
  /// Why not, such as `cooldown`.
  public let reason: String?
}

/// Feature flags, and what an app registers with the system.
public struct SlotConfiguration: Hashable, Sendable, Codable {
  /// A category of notifications.
  public struct Category: Hashable, Sendable, Codable {
    /// A button.
    public struct Action: Hashable, Sendable, Codable {
      /// Its identifier, to be reported.
      public let id: String
      /// Its label.
      public internal(set) var title: String
      /// `foreground` opens the app.
      public let options: [String]

      /// Whether a press opens the app.
      public var opensApp: Bool { options.contains("foreground") }
    }

    /// Its identifier.
    public let id: String
    /// Its buttons in order.
    public internal(set) var actions: [Action]
  }

  /// A notification channel of Android.
  public struct Channel: Hashable, Sendable, Codable {
    /// Its identifier, which never changes.
    public let id: String
    /// Its name for users.
    public let name: String
    /// `high`, `default`, `low` or `min`.
    public let importance: String
  }

  /// Flags by name.
  public let flags: [String: NotificationValue]
  /// Channels to create.
  public let channels: [Channel]

  /// Categories to register.
  public internal(set) var categories: [Category]
  /// The document's entity tag; empty when unknown.
  var tag = ""

  private enum CodingKeys: String, CodingKey {
    case flags, channels, categories
  }
}
