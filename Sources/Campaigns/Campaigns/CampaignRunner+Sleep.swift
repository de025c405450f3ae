internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

// The pause between two looks. While the database sleeps, it lasts until campaigns have something to do.
extension CampaignRunner {
  /// How long a sleep may last while something failed that is retried.
  private static let retryWait = Duration.seconds(600)

  func pause(for time: Duration, on reactor: isolated Reactor) async {
    let next = await timeUntilNextLook(on: reactor)
    _ = await pause.wait(for: time, longest: next.map { max(.zero, $0 - time) }, on: reactor)
  }

  /// How long until an hour comes or something is retried; nil when neither is to come, or the database never sleeps.
  private func timeUntilNextLook(on reactor: isolated Reactor) async -> Duration? {
    guard sleep != nil else { return nil }
    let scheduled = zones.filter { catalogue.scheduled.contains($0.key) }.mapValues(\.names)
    do throws(PostgresError) {
      let hour = try await store.timeUntilNextHour(minutes: pace.standardMinutes, zones: scheduled, on: reactor)
      return retries.isEmpty ? hour : min(hour ?? Self.retryWait, Self.retryWait)
    } catch {
      logger.debug("the next hour of a campaign is unknown", metadata: ["error": "\(error)"])
      return Self.retryWait
    }
  }
}
