import Reactors

/// Scenarios `messages-notify-RATE` and `messages-webhook-RATE`.
struct MessagesRun {
  let bench: ServiceBench
  let subject: SubjectBench
  let way: WakeWay
  let perSecond: Int

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    try await subject.setNotifies(true, on: reactor)
    let trial = MessageTrial(
      bench: bench, subject: subject, perSecond: Double(perSecond), warmUpSeconds: bench.warmUpSeconds,
      seconds: bench.seconds)
    return try await bench.withService(of: subject, on: reactor) { service in
      try await trial.run(beside: service, on: reactor)
    }
  }
}
