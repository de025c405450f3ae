package import PushRules
package import PushStore

package struct PipelineConfiguration: Sendable {
  package var policy: SuppressionPolicy

  /// How bursts of messages fold; nil for a push of each message. That is the default here, because most tests and
  /// measurements post many messages to one recipient and count a push for each. The service's setting folds by default.
  package var folding: FoldPolicy?

  package var content = ContentPolicy()

  /// This process, as histories name it; some letters and digits.
  package var instance = ""

  /// How long a claim belongs to this process. Longer than a push and its record may take, because another process sends a
  /// claim that ran out again; as short as that allows, because a dead replica's work waits for it.
  package var lease = Duration.seconds(30)

  /// The whole time of one push from its claim on: the waits for a connection, a stream and the answer, resends and the
  /// trial in the other environment included. With the half of the lease that a claim may take, it leaves a sixth of the
  /// lease for the record.
  package var pushLimit = Duration.seconds(10)

  /// New events claimed in one round trip. Rows of a claim are held in memory until they are decided.
  package var eventsPerClaimMax = 128

  /// Due holds and retries claimed in one round trip; fewer than events, so that fresh work goes first.
  package var deliveriesPerClaimMax = 64

  /// Recipients of one event claimed at once; later claims bring the others, in turn with those of other conversations.
  package var recipientsPerClaimMax = ClaimLimits.recipientsMaxDefault

  /// Recipients, and pushes, between their claim and their record. Beyond it nothing is claimed: work waits in the database.
  /// 1000 streams fit one APNs connection.
  package var pushesInFlightMax = 2000

  /// How often the lease of one piece of work may run out before it is parked.
  package var rescuesMax = ClaimLimits.rescuesMaxDefault

  /// How long after its record a hold is checked against the facts once more; see ``HoldReview``. Longer than a host's
  /// transaction takes to commit after its last statement.
  package var holdReviewWait = Duration.seconds(1)

  package var shadow = ShadowedKinds.none

  package var schedule = PollSchedule.Configuration()

  /// Leaves the database alone while nothing happens; nil for a pipeline that polls.
  package var sleep: DatabaseSleep?

  var lanes = LaneConfiguration()

  package var retry = RetryPolicy()

  package init(policy: SuppressionPolicy) { self.policy = policy }

  var decider: Decider { Decider(instance: instance, policy: policy) }
}
