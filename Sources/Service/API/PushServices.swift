public import PushPipeline
public import PushStore

/// What the handlers use of their own reactor.
public struct PushServices {
  /// The database, for what apps, webhooks and other servers ask: over sessions that the pipeline does not use, so that neither
  /// waits behind the other's statements.
  public let callers: PushDatabase

  /// The same database for operators' looks, over a pool of its own: claims do not wait behind them.
  public let operators: PushDatabase

  /// The pipeline to wake, and whose records to wait for.
  public let pipeline: DeliveryPipeline

  /// Gathers and writes what apps say of their users.
  public let presence: PresenceWriter

  /// Whether reads are told to the user's other devices.
  public let isReadSyncEnabled: Bool

  /// Makes the campaigns look at those who were noted; nil where campaigns are switched off. Any reactor may call it.
  public let wakeCampaigns: (() -> Void)?

  /// Whether this reactor can do its work; asked by `/readyz`.
  public let readiness: () -> [ReadinessCheck]

  /// Joins them.
  public init(
    callers: PushDatabase, operators: PushDatabase, pipeline: DeliveryPipeline,
    isReadSyncEnabled: Bool = true,
    wakeCampaigns: (() -> Void)? = nil, readiness: @escaping () -> [ReadinessCheck]
  ) {
    self.callers = callers
    self.operators = operators
    self.pipeline = pipeline
    presence = PresenceWriter(store: callers)
    self.isReadSyncEnabled = isReadSyncEnabled
    self.wakeCampaigns = wakeCampaigns
    self.readiness = readiness
  }
}

/// One thing that must be well for the service to be of use.
public struct ReadinessCheck: Sendable {
  /// What was looked at, e.g. `database`.
  public let name: String

  /// Whether it is well.
  public let isReady: Bool

  /// What an operator should know: what is wrong, or what the settings forgo; nil when there is nothing to say.
  public let detail: String?

  /// Notes a check.
  public init(_ name: String, isReady: Bool, detail: String? = nil) {
    self.name = name
    self.isReady = isReady
    self.detail = detail
  }
}
