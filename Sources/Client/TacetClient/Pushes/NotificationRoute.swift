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
