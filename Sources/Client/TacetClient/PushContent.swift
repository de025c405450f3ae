public import Foundation

/// What a push or a local notification of the service carries beside its words.
///
/// Every member is optional. A member of another type, or longer than the service sends it, counts as absent, so that an
/// app can open what it is given without checks.
public struct PushContent: Hashable, Sendable {
  /// The longest id of a host, in bytes of UTF-8.
  static let idBytesMax = 255
  /// The longest name, such as `type` and `action`, in bytes of UTF-8.
  static let wordBytesMax = 64
  /// The most ids of read messages in one push. Ninety UUIDs fill a push; shorter ids of a host come in larger numbers.
  static let readIDsMax = 2048

  /// The kind of event: `message`, `read`, `schedule_changed`, the name of a campaign, or a name of the host's.
  public let type: String?
  /// The ledger's row, by which ``PushServiceClient/opened(_:)`` reports; nil for a local notification.
  public let pushLogID: UUID?
  /// The host's row that it is about.
  public let subjectID: String?
  /// The conversation of a message, or of read messages when all are in one.
  public let conversationID: String?
  /// The message.
  public let messageID: String?
  /// The kind of the surface that it belongs to.
  public let surfaceKind: String?
  /// The surface.
  public let surfaceID: String?
  /// What a tap does, such as `open_do` or `new_conversation`.
  public let action: String?
  /// The campaign's reason, such as `event_based`.
  public let pushType: String?
  /// The domain of a campaign's finding.
  public let domain: String?
  /// The time of the user's day, such as `0800`.
  public let slot: String?
  /// The user's day, such as `2026-11-22`.
  public let fireDate: String?
  /// The part of the day, such as `morning`.
  public let phase: String?
  /// The micro-action's place in its pool.
  public let microAction: Int?
  /// The type of a workout.
  public let workoutType: String?
  /// The meal, such as `breakfast`.
  public let mealType: String?
  /// An image to show, with the scheme `https` and a host.
  public let imageURL: URL?
  /// The unread messages of a `read` push, for the app's icon.
  public let badge: Int?
  /// The messages of a `read` push, the newest first. Remove the notifications that have their ``messageID``: a burst of messages
  /// has one, whose own identifier is that of the first.
  public let readMessageIDs: [String]
  /// The newest read message of the conversation when not all are named: everything before it is read too.
  public let allReadBefore: String?

  /// Reads the custom members.
  /// - Parameter userInfo: of the notification's content, or of `didReceiveRemoteNotification`.
  public init(_ userInfo: [AnyHashable: Any]) {
    let members = CustomMembers(userInfo)
    type = members.word("type")
    pushLogID = members.id("push_log_id").flatMap(UUID.init(uuidString:))
    subjectID = members.id("subject_id")
    conversationID = members.id("conversation_id")
    messageID = members.id("message_id")
    surfaceKind = members.word("surface_kind")
    surfaceID = members.id("surface_id")
    action = members.word("action")
    pushType = members.word("push_type")
    domain = members.text("domain", bytesMax: Self.idBytesMax)
    slot = members.word("slot")
    fireDate = members.word("fire_date")
    phase = members.word("phase")
    microAction = members.count("micro_action")
    workoutType = members.text("workoutType", bytesMax: Self.idBytesMax)
    mealType = members.text("mealType", bytesMax: Self.idBytesMax)
    imageURL = members.text("image_url", bytesMax: ImageDownload.addressBytesMax).flatMap(ImageDownload.address)
    badge = members.count("badge")
    readMessageIDs = members.ids("message_ids", max: Self.readIDsMax)
    allReadBefore = members.id("all_before")
  }

  /// The identifier of the slot's row, which reports name: `<campaign>.<slot>.<fire_date>`. A push of the row may have
  /// another identifier on the screen. Nil for a notification of no slot.
  public var slotIdentifier: String? {
    guard let type, let slot, let fireDate else { return nil }
    let identifier = "\(type).\(slot).\(fireDate)"
    return SlotIdentifier(identifier) == nil ? nil : identifier
  }

  /// Whether the app should call ``ScheduleKeeper/trigger()``.
  public var announcesSchedule: Bool { type == "schedule_changed" }
}

/// The custom members of a `userInfo`, which may hold anything.
private struct CustomMembers {
  let members: [AnyHashable: Any]

  init(_ members: [AnyHashable: Any]) { self.members = members }

  /// A text without control characters.
  func text(_ name: String, bytesMax: Int) -> String? { Self.text(members[name], bytesMax: bytesMax) }

  func id(_ name: String) -> String? { text(name, bytesMax: PushContent.idBytesMax) }

  /// Letters, digits and `_.-`.
  func word(_ name: String) -> String? {
    guard let word = text(name, bytesMax: PushContent.wordBytesMax), word.utf8.allSatisfy(\.isInNames) else {
      return nil
    }
    return word
  }

  /// A number that is not negative.
  func count(_ name: String) -> Int? {
    guard let number = members[name] as? Int, (0...Int(Int32.max)).contains(number) else { return nil }
    return number
  }

  func ids(_ name: String, max: Int) -> [String] {
    guard let values = members[name] as? [Any], values.count <= max else { return [] }
    return values.compactMap { Self.text($0, bytesMax: PushContent.idBytesMax) }
  }

  private static func text(_ value: Any?, bytesMax: Int) -> String? {
    guard let text = value as? String, (1...bytesMax).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { return nil }
    return text
  }
}

extension UInt8 {
  /// Whether names may have the character: a letter, a digit, or one of `_.-`.
  var isInNames: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

/// The screen that a notification asks the app to open.
public enum NotificationRoute: Hashable, Sendable {
  /// The day's practice, `open_do`. `phase` is the part of the day, `microAction` the place in its pool.
  case openDo(phase: String?, microAction: Int?)
  /// A new conversation with the coach; `domain` is its topic.
  case newConversation(domain: String?)
  /// A conversation, at a message.
  case conversation(id: String, messageID: String?)
  /// The form for the user's mood.
  case mood
  /// The chat with the coach.
  case chat
  /// A workout of a type.
  case workout(type: String?)
  /// The log of a meal such as `breakfast`; `isQuick` adds to it without details.
  case meal(type: String?, isQuick: Bool)
  /// A screen that the host names.
  case surface(kind: String, id: String)
  /// Anything else: the app decides by the content and the button.
  case other(type: String?, action: String)

  /// The route of a button, or of a tap on the notification itself.
  /// - Parameter button: the button's identifier; nil for the notification itself.
  /// - Returns: nil for a button that does not open the app.
  init?(button: String?, of content: PushContent) {
    switch button {
    case nil, "OPEN", "START_RITUAL": self.init(tapOn: content)
    case "LOG_MOOD": self = .mood
    case "QUICK_CHAT": self = .chat
    case "START_WORKOUT": self = .workout(type: content.workoutType)
    case "LOG_MEAL": self = .meal(type: content.mealType, isQuick: false)
    case "QUICK_ADD": self = .meal(type: content.mealType, isQuick: true)
    case "DID_THIS": return nil
    case let button? where button.hasPrefix("SNOOZE_"): return nil
    case let button?: self = .other(type: content.type, action: button)
    }
  }

  /// The action comes first, then what the notification is about, then its kind.
  private init(tapOn content: PushContent) {
    switch content.action {
    case "open_do": self = .openDo(phase: content.phase, microAction: content.microAction)
    case "new_conversation": self = .newConversation(domain: content.domain)
    case let action?: self = .other(type: content.type, action: action)
    case nil: self.init(subjectOf: content)
    }
  }

  private init(subjectOf content: PushContent) {
    if let id = content.conversationID {
      self = .conversation(id: id, messageID: content.messageID)
    } else if let kind = content.surfaceKind, let id = content.surfaceID {
      self = .surface(kind: kind, id: id)
    } else {
      self.init(kindOf: content)
    }
  }

  private init(kindOf content: PushContent) {
    switch content.type {
    case "morning": self = .mood
    case "reengagement": self = .chat
    case "workout": self = .workout(type: content.workoutType)
    case "meal": self = .meal(type: content.mealType, isQuick: false)
    default: self = .other(type: content.type, action: "")
    }
  }
}
