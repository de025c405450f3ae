public import Foundation

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
