/// What a visible push says, and what it gives the app along.
///
/// Priority, expiration, topic and the collapse identifier are header fields; there is deliberately no way to put them
/// in here, because APNs ignores them inside `aps` without a word. Texts that are empty are left out as nil ones are.
public struct AlertPayload: PushPayload {
  /// The first line, in bold.
  public let title: AlertText?
  /// The line below the title.
  public let subtitle: AlertText?
  /// The text.
  public internal(set) var body: AlertText?
  /// The image or storyboard shown while the app starts from this push.
  public let launchImage: String?
  /// The number on the app's icon, absolute; 0, as which a negative one is sent, removes it, nil leaves it as it is.
  public let badge: Int?
  /// What is played; nil is silent.
  public let sound: AlertSound?
  /// What the system groups by, such as a conversation.
  public let threadIdentifier: String?
  /// The registered category that brings the action buttons.
  public let category: String?
  /// How much the push may interrupt; nil is as ``InterruptionLevel/active``.
  public let interruptionLevel: InterruptionLevel?
  /// The place among the app's pushes in a summary, where the highest is featured.
  public let relevanceScore: UnitFraction?
  /// The window of the app that comes forward.
  public let targetContentIdentifier: String?
  /// What the user's Focus filter is asked about.
  public let filterCriteria: String?
  /// Whether the app's service extension may change the push before it is shown: `mutable-content`.
  public let runsServiceExtension: Bool
  /// Whether the app is woken in the background as well: `content-available`.
  public let wakesApp: Bool
  /// The app's own data, which stands beside `aps`.
  public let custom: PayloadObject

  /// Always ``PushType/alert``.
  public var pushType: PushType { .alert }

  /// Puts a payload together; each parameter is the property of the same name.
  ///
  /// - Throws: `nothingToShow` without any text, badge and sound, and for a launch image or a service extension without
  ///   a text, which alone makes them count; `customKeyReserved` when `custom` has a member named `aps`.
  public init(
    title: AlertText? = nil,
    subtitle: AlertText? = nil,
    body: AlertText? = nil,
    launchImage: String? = nil,
    badge: Int? = nil,
    sound: AlertSound? = nil,
    threadIdentifier: String? = nil,
    category: String? = nil,
    interruptionLevel: InterruptionLevel? = nil,
    relevanceScore: UnitFraction? = nil,
    targetContentIdentifier: String? = nil,
    filterCriteria: String? = nil,
    runsServiceExtension: Bool = false,
    wakesApp: Bool = false,
    custom: PayloadObject = [:]
  ) throws(PushRequestError) {
    self.title = title?.unlessEmpty
    self.subtitle = subtitle?.unlessEmpty
    self.body = body?.unlessEmpty
    self.launchImage = launchImage
    self.badge = badge
    self.sound = sound?.unlessEmpty
    self.threadIdentifier = threadIdentifier
    self.category = category
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.targetContentIdentifier = targetContentIdentifier
    self.filterCriteria = filterCriteria
    self.runsServiceExtension = runsServiceExtension
    self.wakesApp = wakesApp
    self.custom = try custom.asCustomData()
    guard isNoticed else {
      throw PushRequestError(.nothingToShow, "a text is missing, or at least a badge or a sound")
    }
  }

  /// Whether the push has any of the three texts.
  var hasText: Bool { title != nil || subtitle != nil || body != nil }

  /// Whether a device does all that the push asks for.
  var isNoticed: Bool {
    if hasText { return true }
    return (badge != nil || sound != nil) && launchImage == nil && !runsServiceExtension
  }
}
