import Reactors

/// Scenarios `messages-notify-RATE` and `messages-webhook-RATE`.
struct MessagesRun {
  let bench: ServiceBench
  let subject: SubjectBench
  let way: WakeWay
  let perSecond: Int

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    let trial = MessageTrial(
      bench: bench, subject: subject, way: way, perSecond: Double(perSecond), warmUpSeconds: bench.warmUpSeconds,
      seconds: bench.seconds)
    return try await subject.withNotifies(way == .notify, on: reactor) {
      try await bench.withService(of: subject, on: reactor) { try await trial.run(beside: $0, on: reactor) }
    }
  }
}
