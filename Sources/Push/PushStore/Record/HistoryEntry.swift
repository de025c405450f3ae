/// One claim of a push to one recipient: what was known, what was decided, and the result.
///
/// The ledger keeps a list of them for each of its rows, the oldest first, as JSON objects whose keys are the words below.
/// What is false, zero or unknown is left out. It holds no text, no name and no whole address.
public struct HistoryEntry: Equatable, Sendable {
  /// How many the ledger keeps of one push: the first half of them stay, and the newest.
  public static let keptMax = 40

  /// How many attempts the ledger keeps of one claim, the first ones: twice the devices that a user has by default.
  public static let attemptsKeptMax = 20

  /// After so many bytes of an entry no more attempts are written: an ordinary one has 160.
  static let keptBytesMax = 4096

  /// The number of the claim, from 1. A number that is missing from the list was a claim without a record: its process
  /// died, or its lease ran out.
  public let claim: Int

  /// When the claim was made, by the database's clock; microseconds since 1970.
  public let claimedAt: Int64

  /// The process that claimed; a row of `tacet.instances`.
  public let instance: String

  /// What made the service look: `notify`, `webhook`, `poll`, `start`, `due` or `neighbour`.
  public let wokenBy: String

  /// What ended the hold before its time: `read`, `seen`, `left`, `removed`, `deleted`, `preferences`, `review` or
  /// `host`; nil when its time had come, or nothing was held.
  public let releasedBy: String?

  /// When that was, by the database's clock; microseconds since 1970. Nil when nothing did.
  public let releasedAt: Int64?

  /// From the wake-up to the claim's answer; microseconds.
  public let wokenMicroseconds: Int64

  /// From the claim's date to the decision; microseconds.
  public let decidedMicroseconds: Int64

  /// What the rules looked at.
  public let situation: Situation

  /// What was decided.
  public let decision: OutcomeDecision

  /// Why; nil for a plain success.
  public let reason: String?

  /// When to look again, in microseconds from the claim on; nil when nothing remains.
  public let dueMicroseconds: Int64?

  /// What remains: `held`, `retryable` or `waiting`; nil when nothing does.
  public let remaining: String?

  /// Attempts at devices, in the order in which they ended.
  public let attempts: [Attempt]

  /// Attempts that came after those and were not kept.
  public var attemptsLeftOut = 0

  /// What it did in its burst; nil when it was not asked.
  public var fold: Fold?

  /// What a message did in its burst.
  public struct Fold: Equatable, Sendable {
    /// Whether it was to sound.
    public let sounds: Bool
    /// Messages of the burst besides the one shown.
    public let more: Int
    /// The ``PushKinds/HostID/shortMark`` of the message that sounded.
    public let burst: String

    /// Notes it.
    public init(sounds: Bool, more: Int, burst: String) {
      self.sounds = sounds
      self.more = more
      self.burst = burst
    }
  }

  /// What the rules looked at: the members of `RecipientSituation`, ages in microseconds, and the limits of that time.
  public struct Situation: Equatable, Sendable {
    /// Whether the user took part in the conversation.
    public var isParticipant = true
    /// Since the event was committed.
    public var messageAge: Int64 = 0
    /// The part of that for which the push was held on purpose.
    public var heldFor: Int64 = 0
    /// Whether the event or its surface was gone.
    public var isDeleted = false
    /// Whether the push was taken back.
    public var isCancelled = false
    /// Whether its cap group allowed no more pushes on the user's day.
    public var isCapped = false
    /// The life of the push; nil for ``timeToLive``.
    public var life: Int64?
    /// Whether the user had read it.
    public var hasRead = false
    /// Since the client last reported looking; nil for never.
    public var lastSeenAge: Int64?
    /// Whether that was after the event came.
    public var sawAfterMessage = false
    /// Whether the client had reported leaving since.
    public var hasLeft = false
    /// Since the newest other message was touched, if the user had read it.
    public var newestOtherReadAge: Int64?
    /// Whether the user wanted no pushes of this kind.
    public var isOptedOut = false
    /// Whether the user had silenced the conversation.
    public var isMuted = false
    /// Whether the user wanted only messages with a mention.
    public var wantsMentionsOnly = false
    /// Whether the message mentioned the user.
    public var isMentioned = false
    /// Until quiet hours ended; nil outside them.
    public var quietHoursRemaining: Int64?
    /// What the user wanted of pushes in quiet hours: `hold` or `drop`; nil outside them.
    public var quietHoursPolicy: String?
    /// Devices that the push could go to.
    public var deviceCount = 0
    /// The suppression window.
    public var window: Int64 = 0
    /// How long an event was worth a push.
    public var timeToLive: Int64 = 0
  }

  /// One attempt at one device, or the reason why it was not made.
  public struct Attempt: Equatable, Sendable {
    /// The first eight bytes of the target's mark.
    public let device: String
    /// The route that it took, as lanes are named; nil when unknown.
    public let route: String?
    /// When it ended, in microseconds from the claim's date on.
    public let endedMicroseconds: Int64
    /// The service's status; nil when no answer came or nothing was sent.
    public let status: Int?
    /// The service's reason, or what the connection did.
    public let reason: String?
    /// What the push is called at the service, such as the `apns-id`; nil when nothing was sent.
    public let identifier: String?
    /// What was kept back of the push: `sender`, `none`, `sealed` or `no_key`; nil for nothing.
    public let content: String?
    /// What it means for the push and its device: `accepted`, `dropped`, `refused`, `postponed`, `waiting`,
    /// `elsewhere` when the other environment was asked next, `impossible` when that said nothing about the device, or
    /// `shadow` when the push was built and its kind is not sent.
    public let verdict: String
    /// The locale of the words; nil for those of the event itself.
    public let locale: String?
    /// The locale that the device asked for, where that is another one.
    public let askedLocale: String?

    /// Notes an attempt; of the mark its beginning is kept.
    public init(
      mark: String, route: String?, endedMicroseconds: Int64, status: Int? = nil, reason: String? = nil,
      identifier: String? = nil, content: String? = nil, verdict: String, locale: String? = nil,
      askedLocale: String? = nil
    ) {
      device = String(decoding: mark.utf8.prefix(8), as: UTF8.self)
      self.route = route
      self.endedMicroseconds = endedMicroseconds
      self.status = status
      self.reason = reason
      self.identifier = identifier
      self.content = content
      self.verdict = verdict
      self.locale = locale
      self.askedLocale = askedLocale
    }
  }
}
