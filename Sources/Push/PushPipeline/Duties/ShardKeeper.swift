package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// Says that this process lives, and holds its share of the shards, so that its pipelines may claim their work.
///
/// It renews the process's lease every second. A process that is killed keeps its shards until the lease ends; then the others
/// take them, each its share. One that was stopped finds by the monotonic clock that its lease may be over, and decides nothing more
/// until it has been renewed. When another process has too few, this one claims nothing of the shards that it is to give up, waits for
/// what is under way, and gives them up. A process that leaves the database alone owns nothing: a webhook may wake another one.
package final class ShardKeeper {
  /// From a renewal on, how long the shards are this process's.
  package static let lease = Duration.seconds(5)

  private static let interval = Duration.seconds(1)

  /// While something is to be handed over, or the database refuses.
  private static let shortInterval = Duration.milliseconds(100)

  /// What the lease is taken to be shorter here than there: a server that crashes forgets renewals of the last 0.6 s, clocks run at
  /// different speeds, and a decision takes a moment.
  private static let margin = Duration.seconds(1)

  private let instance: ServiceInstance
  private let pipeline: DeliveryPipeline
  private let logger: Logger
  private let pause: WakefulPause

  package init(of instance: ServiceInstance, for pipeline: DeliveryPipeline, logger: Logger) {
    self.instance = instance
    self.pipeline = pipeline
    self.logger = logger
    pause = WakefulPause(pipeline.configuration.sleep)
  }

  /// Works until ``close(on:)``: what is under way while the process drains needs its lease.
  package func run(on reactor: isolated Reactor) async {
    while !pause.isClosed {
      let isUnsettled = pipeline.sleep?.isAsleep == true ? await rest(on: reactor) : await renew(on: reactor)
      await pause.wait(for: isUnsettled ? Self.shortInterval : Self.interval, on: reactor)
    }
  }

  /// Another process has given up shards or keeps the host from notifying, or this one leaves the database alone.
  package func look(on reactor: isolated Reactor) { pause.signal(on: reactor) }

  /// Gives everything up, and says that the process is about to end; nothing is under way any more.
  package func close(on reactor: isolated Reactor) async {
    pause.close(on: reactor)
    do throws(PostgresError) {
      try await pipeline.store.end(instance, on: reactor)
      try await pipeline.store.giveUp(Array(pipeline.owned.held.keys), of: instance.id, on: reactor)
    } catch {
      logger.debug("cannot say that this process ends", metadata: ["error": "\(error)"])
    }
  }

  /// Gives everything up while the database is left alone. Nothing is under way, and nothing is claimed until the next renewal.
  /// - Returns: whether the process is awake again.
  private func rest(on reactor: isolated Reactor) async -> Bool {
    let numbers = Array(pipeline.owned.held.keys)
    guard !numbers.isEmpty else { return false }
    take([], until: 0, on: reactor)
    do throws(PostgresError) {
      try await pipeline.store.giveUp(numbers, of: instance.id, on: reactor)
    } catch {
      logger.debug("cannot give up shards before the sleep", metadata: ["error": "\(error)"])
    }
    return pipeline.sleep?.isAsleep == false
  }

  /// - Returns: whether the next renewal should come soon.
  private func renew(on reactor: isolated Reactor) async -> Bool {
    let askedAt = Reactor.now
    do throws(PostgresError) {
      let done = pipeline.owned.held.values.filter { $0.isSurplus && pipeline.room.isEmpty(of: $0.number) }
      if !done.isEmpty { try await pipeline.store.giveUp(done.map(\.number), of: instance.id, on: reactor) }
      let shards = try await pipeline.store.holdShards(of: instance, for: Self.lease, on: reactor)
      take(shards, until: askedAt &+ (Self.lease - Self.margin).clampedNanoseconds, on: reactor)
      return shards.contains(where: \.isSurplus)
    } catch {
      logger.debug("cannot renew the lease of shards", metadata: ["error": "\(error)"])
      return true
    }
  }

  private func take(_ shards: [HeldShard], until end: UInt64, on reactor: isolated Reactor) {
    let owned = OwnedShards(shards)
    if owned.held.keys != pipeline.owned.held.keys {
      logger.notice("owns conversations", metadata: ["shards": "\(shards.count) of \(OwnedShards.count)"])
    }
    pipeline.pacer.schedule.isQuiet = shards.contains(where: \.isQuiet)
    pipeline.own(owned, until: end, on: reactor)
  }
}

extension DeliveryPipeline {
  /// Claims from these shards, until a moment in monotonic nanoseconds. What is new of them is looked for at once.
  package func own(_ shards: OwnedShards, until end: UInt64, on reactor: isolated Reactor) {
    let taken = Set(shards.numbers.filter { shards.held[$0]?.epoch != owned.held[$0]?.epoch })
    let hasMore = !taken.isEmpty || shards.numbers != owned.numbers || ownedUntil <= Reactor.now
    if !taken.isEmpty {
      bursts.forget(taken)
      hasLeftOver = true
    }
    owned = shards
    ownedUntil = end
    guard hasMore, !shards.numbers.isEmpty else { return }
    pacer.ask()
    wakeMark.remember(.start)
    signal.signal(on: reactor)
  }
}
