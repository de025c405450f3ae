package import Logging
package import Reactors
internal import UnixSignals

package enum SimulatorProcess {
  /// Runs a simulator on one reactor until SIGTERM or SIGINT.
  /// - Parameters:
  ///   - level: of the log.
  ///   - readyFile: a file for the addresses; nil for none.
  ///   - start: returns the addresses as JSON on one line, and what stops the simulator.
  package static func run(
    at level: Logger.Level, writingTo readyFile: String?,
    _ start: (Reactor) async throws -> (addresses: String, stop: () async -> Void)
  ) async throws {
    SimulatorLog.begin(at: level)
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let group = try ReactorGroup(count: 1, name: "simulator")
    let (addresses, stop) = try await start(group.reactors[0])
    try Readiness.announce(addresses, writingTo: readyFile)
    for await _ in signals { break }
    await stop()
    await group.stop()
  }
}
