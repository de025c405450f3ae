import Reactors

/// The shared parts of all runs: the sink, and the settings and logs of the services.
struct ServiceBench: Sendable {
  /// The time between the last commit and the last push of a run. Later pushes count as lost.
  static let acceptanceLimit = Duration.seconds(30)

  let sink: RunningSink
  let credentials: ServiceCredentials
  /// Override the settings that the service needs.
  let moreSettings: [String: String]
  /// The folder of the services' logs.
  let folder: String
  let connections: Int
  let warmUpSeconds: Double
  let seconds: Double
  let burstInsert: BurstInsert
  /// The first rate of the search for the highest, in messages per second.
  let sustainedFrom: Double

  /// A service that has finished the work of earlier runs.
  func start(_ bench: SubjectBench, on reactor: isolated Reactor) async throws -> RunningService {
    let service = try await RunningService.start(
      bench.subject.program, log: "\(folder)/\(bench.subject.name).log",
      settings: { address in
        credentials.settings(database: bench.subject.conninfo, listenAddress: address)
          .merging(moreSettings) { $1 }
      }, on: reactor)
    do {
      try await bench.awaitQuiet(on: reactor)
    } catch {
      try? await service.child.stop(on: reactor)
      throw error
    }
    await sink.clear()
    return service
  }

  /// Runs work beside a service, and always ends the service.
  func withService<Value>(
    of bench: SubjectBench, on reactor: isolated Reactor, _ work: (RunningService) async throws -> Value
  ) async throws -> Value {
    try await bench.checkpoint(on: reactor)
    let service = try await start(bench, on: reactor)
    do {
      let value = try await work(service)
      try await service.child.stop(on: reactor)
      return value
    } catch {
      try? await service.child.stop(on: reactor)
      throw error
    }
  }
}
