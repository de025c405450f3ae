/// How fast campaigns run, and when.
public struct CampaignPace: Equatable, Sendable {
  /// When users are looked at where the campaign names no time: minutes after midnight in the user's zone. 600: at ten, when
  /// the day has begun and leaves time to answer.
  public var standardMinutes = 600
  /// Users claimed at once.
  public var batchUsers = 50
  /// Users of a batch that are looked at at the same time; nearly all of it is waiting for a model.
  public var concurrentUsers = 5
  /// Between two batches.
  public var batchPause = Duration.milliseconds(100)
  /// How long a claim holds. A killed process's users are looked at by another one after that.
  public var lease = Duration.seconds(60)
  /// What is left of a lease when no further user of it is begun: two calls of a model at their deadlines, and the wait
  /// that the model may ask for between them.
  public var leaseReserve = Duration.seconds(20)
  /// How long after a user's hour they may still be pushed: an outage ends at some time of the night as well.
  public var lateAfter = Duration.seconds(4 * 3600)
  /// Claims after which a user is given up for the day: whatever kills a process five times kills the sixth.
  public var attemptsMax = 5
  /// Between two looks at the clock. Hours of users are minutes, not seconds.
  public var lookInterval = Duration.seconds(20)
  /// How old the list of zones may be in which users live. Reading it means reading the audience.
  public var zonesAge = Duration.seconds(900)

  /// The standard pace.
  public init() {}
}
