import Reactors

/// What all runs share: the sink, the settings of the services and where they write.
struct ServiceBench: Sendable {
  /// How long the last pushes of a run may take after its last commit; what is missing then is lost.
  static let acceptanceLimit = Duration.seconds(30)

  let sink: RunningSink
  let credentials: ServiceCredentials
  /// Win over those that the service needs.
  let moreSettings: [String: String]
  /// Where the services' logs are, with their names.
  let folder: String
  /// Connections of the load at the most.
  let connections: Int
  let warmUpSeconds: Double
  let seconds: Double
  let burstInsert: BurstInsert
  /// The first rate of the search for the highest, in messages per second.
  let sustainedFrom: Double

  /// A service with everything of earlier runs worked off.
  /// - Parameter settings: of this run only.
  func start(
    _ bench: SubjectBench, settings: [String: String] = [:], on reactor: isolated Reactor
  ) async throws -> RunningService {
    let service = try await RunningService.start(
      bench.subject.program, log: "\(folder)/\(bench.subject.name).log",
      settings: { address in
        credentials.settings(database: bench.subject.conninfo, listenAddress: address)
          .merging(moreSettings) { $1 }.merging(settings) { $1 }
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

  /// Runs work beside a service, and ends it in any case.
  func withService<Value>(
    of bench: SubjectBench, settings: [String: String] = [:], on reactor: isolated Reactor,
    _ work: (RunningService) async throws -> Value
  ) async throws -> Value {
    try await bench.checkpoint(on: reactor)
    let service = try await start(bench, settings: settings, on: reactor)
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
