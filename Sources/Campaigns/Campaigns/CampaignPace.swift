/// When and how fast campaigns run.
package struct CampaignPace: Equatable, Sendable {
  // Campaigns that come at hours.

  /// The default time of a campaign, in minutes after midnight in the user's zone. 600: at ten the day has begun and
  /// leaves time to answer.
  package var standardMinutes = 600
  /// The pause between two looks for hours that have come. Users' hours are exact to the minute, not to the second.
  package var hourInterval = Duration.seconds(20)
  /// Texts that a model writes at the same time of hours, and as many of slots. A small plan of a provider allows some fifty a minute.
  package var concurrentCalls = 5
  /// Such occasions claimed together. With the last of a batch of five, calls would wait for the slowest.
  var writtenPerBatch: Int { concurrentCalls * 4 }
  /// How long an hour is left alone that has failed, of the two in which it can be served: an audience that always fails does not load
  /// the database.
  package var failedHourPause = Duration.seconds(120)
  /// How long after a user's hour a push may still be sent. An outage may end at night.
  package var lateAfter = Duration.seconds(4 * 3600)
  /// The pause between two looks for rows that wait for a text, of ten seconds that they wait.
  package var rowInterval = Duration.seconds(2)

  // Slots.

  /// How long after its time an occasion may be pushed. An outage may end at noon.
  package var grace = Duration.seconds(15 * 60)
  package var slotsPerBatch = 500
  /// What is due at once is pushed within this time where the pace allows that. What a process has sent and not yet recorded when
  /// it is killed is sent once more: of pushes that take 25 s and are recorded within 0.1 s that is less than one in a hundred.
  var spread = Duration.seconds(25)
  /// How long a claim of what is due holds. Then another process takes over the occasions of a killed one.
  package var lease = Duration.seconds(30)
  /// How long a claim holds under which something is fetched, or written by a model: longer than that may take, which is two calls of a
  /// model at their deadlines, and the wait between them.
  package var writingLease = Duration.seconds(60)
  /// How long texts of a batch are begun: with the last of them it stays within the lease.
  var draftLimit: Duration { writingLease / 2 }
  /// What is due sooner has a template.
  package var draftReserve = Duration.seconds(30)
  /// The longest pause between two looks.
  package var lookInterval = Duration.seconds(10)
  /// For how long after something was due the runner looks again without asking when the next occasion is.
  package var backlogInterval = Duration.seconds(1)
  /// The pause between two looks at whole audiences. Users of the API are enrolled at once.
  package var enrolInterval = Duration.seconds(15 * 60)
  /// Within this time after a user's schedule was rendered on request, the next request gets what is stored.
  package var requestPause = Duration.seconds(30)

  // All.

  /// Users of an audience enrolled by one statement: of a million, each takes under a fifth of a second.
  package var usersPerPage = 2_500
  /// Occasions pushed in a second at most, of slots and of hours each, so that messages of that morning have their share of the database.
  package var pushesPerSecond = 2_000
  /// For how long what is due gives way to messages, of the quarter of an hour in which slots are pushed: a million users on a small
  /// machine need the rest of it.
  var patience = Duration.seconds(5 * 60)
  /// Claims after which an occasion is given up. A cause that kills a process five times kills the sixth too.
  package var attemptsMax = 5
  /// The pause between two looks at the campaigns.
  package var catalogueInterval = Duration.seconds(20)
  /// After a failure, how long the database may sleep before the next try.
  package var retryWait = Duration.seconds(600)

  package init() {}

  /// More are not counted: they are pushed as fast as the pace allows.
  var dueMax: Int { pushesPerSecond * Int(spread.components.seconds) }

  /// Pushes in a second while so many are due: a twentieth of the most at least.
  func pushesPerSecond(whenDue due: Int) -> Int {
    min(max(due / max(Int(spread.components.seconds), 1), pushesPerSecond / 20, 1), pushesPerSecond)
  }

  /// Occasions pushed together. So many events of the fastest pace wait in the inbox at most before more come. An eighth of a
  /// second is a two-hundredth of the spread: a batch that is lost on its way stays below one push in a hundred. Each batch
  /// costs some milliseconds of the database, whatever its size; larger ones let messages wait behind them.
  func pushesPerBatch(at pushesPerSecond: Int) -> Int { min(max(pushesPerSecond / 8, 1), 256) }

  /// The pause after a batch.
  ///
  /// One that takes more than half of its time keeps a machine busy on which messages wait for it. While they come, they have as long for
  /// themselves.
  /// - Parameters:
  ///   - taken: how long it took.
  ///   - share: its part of a second at the rate.
  ///   - waited: for how long its oldest occasion was due.
  func pause(after taken: Duration, of share: Duration, waited: Duration, hasMessages: Bool) -> Duration {
    max(share - taken, hasMessages && waited < patience ? taken : .zero)
  }
}
